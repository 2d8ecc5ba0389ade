module tillgate.example

go 1.19

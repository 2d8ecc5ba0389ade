module tillgate.example/client

go 1.19

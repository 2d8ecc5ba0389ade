package tillgate

import (
	"errors"
	"os"
	"strings"
)

// FromEnvironment reads TILLGATE_GATEWAY_URL, TILLGATE_MERCHANT_ID, TILLGATE_AES_KEY, TILLGATE_PRIVATE_KEY and
// TILLGATE_PLATFORM_PUBLIC_KEY, as the clients of all languages do. A value may be in a file, which the variable with _FILE
// at its end names.
func FromEnvironment() (*Client, error) {
	var problems []string
	read := func(name string) string {
		value, problem := fromVariable(name)
		if problem != "" {
			problems = append(problems, problem)
		}
		return value
	}
	credentials := Credentials{
		GatewayURL:        read("TILLGATE_GATEWAY_URL"),
		MerchantID:        read("TILLGATE_MERCHANT_ID"),
		AESKey:            several(read("TILLGATE_AES_KEY")),
		PrivateKey:        read("TILLGATE_PRIVATE_KEY"),
		PlatformPublicKey: several(read("TILLGATE_PLATFORM_PUBLIC_KEY")),
	}
	if len(problems) > 0 {
		return nil, errors.New(strings.Join(problems, "; "))
	}
	return New(credentials)
}

func fromVariable(name string) (value, problem string) {
	value, file := strings.TrimSpace(os.Getenv(name)), strings.TrimSpace(os.Getenv(name+"_FILE"))
	switch {
	case value != "" && file != "":
		return "", name + " and " + name + "_FILE are both set: keep one of them"
	case file != "":
		text, err := os.ReadFile(file)
		if err != nil {
			return "", name + "_FILE: " + err.Error()
		}
		return strings.TrimSpace(string(text)), ""
	case value == "":
		return "", name + " is missing"
	}
	// A .env file has a PEM on one line, with \n for its line breaks.
	if strings.Contains(value, "-----BEGIN") {
		value = strings.ReplaceAll(value, `\n`, "\n")
	}
	return value, ""
}

// While a key is replaced, a variable has two: separated by a comma, or one PEM after the other.
func several(text string) (list oneOrTwo) {
	for _, part := range strings.Split(strings.ReplaceAll(text, "-----\n-----BEGIN", "-----,-----BEGIN"), ",") {
		if strings.TrimSpace(part) != "" {
			list = append(list, part)
		}
	}
	return list
}

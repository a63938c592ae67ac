package discovery

import (
	"errors"
	"fmt"
	"strconv"
)

var (
	// ErrEmpty says that the look-up has worked and there is no server in it.
	ErrEmpty = errors.New("discovery: the list has no server: check that servers are registered and healthy")
	// ErrTooMany says that a list has more than MostServers servers.
	ErrTooMany = fmt.Errorf("discovery: a list has more than %d servers: name a narrower place", MostServers)
	// ErrTooLarge says that a file or an answer is larger than what is read of one.
	ErrTooLarge = fmt.Errorf("discovery: it is larger than %d MiB: name a narrower place", mostBytes>>20)
	// ErrStale says that a later leader is announced. This process has lost the role, or will soon
	// learn of it.
	ErrStale = errors.New("discovery: a later leader is announced")
	// ErrForeign says that the service has instances of somebody else, or of another role.
	ErrForeign = errors.New("discovery: the service is not that of this role: give the role a service of its own")
)

// LookupError says which look-up has failed, and why.
type LookupError struct {
	// Source is where was looked, without secrets, such as "consul 127.0.0.1:8500/nats".
	Source string
	Err    error
}

func (e *LookupError) Error() string { return "discovery: look up " + e.Source + ": " + e.Err.Error() }

func (e *LookupError) Unwrap() error { return e.Err }

// ResponseError is an answer of a service that is not a list.
type ResponseError struct {
	Status int
	// Says is the beginning of the answer.
	Says string
}

func (e *ResponseError) Error() string {
	fix := ""
	switch e.Status {
	case 401, 403:
		fix = ": give a token or a role that may read this"
	case 404:
		fix = ": check the name"
	}
	text := "it has answered " + strconv.Itoa(e.Status)
	if e.Says != "" {
		text += " " + strconv.Quote(e.Says)
	}
	return text + fix
}

// AddressError is an address of a server that cannot be used.
type AddressError struct {
	// Address is the address without its password, "" if it cannot be read.
	Address string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *AddressError) Error() string {
	return fmt.Sprintf("discovery: address %q: %s", e.Address, e.Fix)
}

// ParseError is a URL of a source that cannot be used.
type ParseError struct {
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ParseError) Error() string { return "discovery: " + e.Fix }

// ConfigError is a fault in the fields of a source.
type ConfigError struct {
	Field string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ConfigError) Error() string { return "discovery: " + e.Field + ": " + e.Fix }

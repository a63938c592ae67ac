package roles

import (
	"crypto/x509"
	"errors"
)

// CertificateError says that the certificate of a NATS server was not accepted, and how to fix
// that. errors.As finds it in the Err of an event.Fault that says that there is no connection, or
// that a list of servers cannot be followed.
type CertificateError struct {
	// Fix says what to do.
	Fix string
	Err error
}

func (e *CertificateError) Error() string { return e.Err.Error() + ": " + e.Fix }

func (e *CertificateError) Unwrap() error { return e.Err }

// certified is err, with the fix if a certificate is the reason.
func certified(err error) error {
	fix := ""
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		fix = "give the authority that has signed it, by nats.RootCAs in NATSOptions"
	case errors.As(err, new(x509.HostnameError)):
		fix = "name the server as its certificate does, or add this name to the certificate"
	case errors.As(err, new(x509.CertificateInvalidError)):
		fix = "give the server another certificate"
	default:
		return err
	}
	return &CertificateError{fix, err}
}

package connect

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/nats-io/nats.go"
)

// explain says why a server cannot be reached, and what to do about it. It drops the names of
// sockets, which do not help.
func (d *dialer) explain(err error, within time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && d.failed != nil {
		err = d.failed
	}
	const elsewhere = "or give its address (--server, NATS_URL)"
	unknown, timed := (*net.DNSError)(nil), net.Error(nil)
	late := errors.Is(err, nats.ErrTimeout) || errors.As(err, &timed) && timed.Timeout()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused: nothing listens there; start a server (rolectl dev), %s", elsewhere)
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("host %s does not exist: check its name, %s", unknown.Name, elsewhere)
	case late && d.failed != nil:
		return fmt.Errorf("not reachable within %v (--timeout): check the address and firewalls, %s", within, elsewhere)
	case late:
		return fmt.Errorf(
			"a program listens there and said nothing within %v (--timeout): check that it is a NATS server, and whether it "+
				"needs --tlsfirst; give it more time, %s", within, elsewhere)
	}
	switch { // their own texts do not help
	case strings.Contains(err.Error(), "connection closed by remote after TLS handshake"):
		return errors.New("the server has closed the connection after the TLS handshake: " + wantsCertificate)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New(
			"a program listens there and has closed the connection without a word: check that it is a NATS server, whether it " +
				"needs --tlsfirst, " +
				"or a client certificate (--tlscert, --tlskey)?")
	case strings.Contains(err.Error(), "malformed HTTP"):
		return errors.New("the server has no websocket there: use nats:// in --server")
	}
	if fix := remedy(err); fix != "" {
		return fmt.Errorf("%w: %s", err, fix)
	}
	return err
}

const wantsCertificate = "the server wants a client certificate that it trusts (--tlscert and --tlskey, NATS_CERT " +
	"and NATS_KEY)"

// remedy says what to do about a server that rejects this user, as far as the error tells. Some
// errors of the two libraries have no type.
func remedy(err error) string {
	says := func(text string) bool { return strings.Contains(err.Error(), text) }
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "give the authority that has signed the server's certificate (--tlsca, NATS_CA)"
	case errors.As(err, new(x509.HostnameError)):
		return "name the server as its certificate does (--server, NATS_URL)"
	case errors.As(err, new(x509.CertificateInvalidError)):
		return "the server needs another certificate"
	case says("tls: certificate required"), says("tls: bad certificate"), says("tls: unknown certificate authority"),
		says("tls: expired certificate"):
		return wantsCertificate
	case errors.As(err, new(tls.RecordHeaderError)), says("first record does not look like a TLS handshake"):
		return "the server speaks before TLS begins: leave --tlsfirst out (NATS_TLS_FIRST, tls_first of the context)"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server has no TLS: leave out --tlsca and --tlscert, and use nats:// in --server"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return "the server does not know this user: see --user and --password, --creds, --nkey, and which context is selected"
	}
	return ""
}

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

// explain says what stands in the way, and what to do about it. The texts of timeouts name sockets, which help nobody.
func (d *dialer) explain(err error, within time.Duration) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if errors.Is(err, nats.ErrNoServers) && d.failed != nil {
		err = d.failed
	}
	const elsewhere = "or say where one is (--server, NATS_URL)"
	unknown, timed := (*net.DNSError)(nil), net.Error(nil)
	late := errors.Is(err, nats.ErrTimeout) || errors.As(err, &timed) && timed.Timeout()
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("connection refused: nothing listens there; start a server (rolectl dev), %s", elsewhere)
	case errors.As(err, &unknown) && unknown.IsNotFound:
		return fmt.Errorf("no host is called %s: see that the name is right, %s", unknown.Name, elsewhere)
	case late && d.failed != nil:
		return fmt.Errorf("cannot be reached within %v (--timeout): see that the address is right and no firewall is in between, %s", within, elsewhere)
	case late:
		return fmt.Errorf("something listens there and said nothing within %v (--timeout): is it a NATS server, and does it want TLS at once (--tlsfirst)? Give it more time, %s", within, elsewhere)
	}
	switch { // what they say is of no use
	case strings.Contains(err.Error(), "connection closed by remote after TLS handshake"):
		return errors.New("the server has closed the connection after the TLS handshake: " + wantsCertificate)
	case errors.Is(err, io.EOF), errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return errors.New("something listens there and has hung up without a word: is it a NATS server, does it want TLS at once (--tlsfirst), " +
			"or a client certificate (--tlscert, --tlskey)?")
	case strings.Contains(err.Error(), "malformed HTTP"):
		return errors.New("no websocket is served there: use nats:// in --server")
	}
	if fix := remedy(err); fix != "" {
		return fmt.Errorf("%w: %s", err, fix)
	}
	return err
}

const wantsCertificate = "the server wants a client certificate that it trusts (--tlscert and --tlskey, NATS_CERT and NATS_KEY)"

// remedy is what to do about a server that is there and lets nobody in, as far as that can be told. Some of what the two
// libraries say has no type.
func remedy(err error) string {
	says := func(text string) bool { return strings.Contains(err.Error(), text) }
	switch {
	case errors.As(err, new(x509.UnknownAuthorityError)):
		return "give the authority that has signed the server's certificate (--tlsca, NATS_CA)"
	case errors.As(err, new(x509.HostnameError)):
		return "name the server as its certificate does (--server, NATS_URL)"
	case errors.As(err, new(x509.CertificateInvalidError)):
		return "the server needs another certificate"
	case says("tls: certificate required"), says("tls: bad certificate"), says("tls: unknown certificate authority"), says("tls: expired certificate"):
		return wantsCertificate
	case errors.As(err, new(tls.RecordHeaderError)), says("first record does not look like a TLS handshake"):
		return "the server speaks before TLS begins: leave --tlsfirst out (NATS_TLS_FIRST, tls_first of the context)"
	case errors.Is(err, nats.ErrSecureConnWanted):
		return "the server offers no TLS: leave --tlsca and --tlscert out, and use nats:// in --server"
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked):
		return "the server does not know this user: see --user and --password, --creds, --nkey, and which context is selected"
	}
	return ""
}

package connect

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"
)

// Options returns the options of a connection as this user. Errors: a file that cannot be read.
func (t Target) Options() ([]nats.Option, error) {
	var all []nats.Option
	switch {
	case t.User != "":
		all = append(all, nats.UserInfo(t.User, t.Password))
	case t.Creds != "":
		file := t.env.expand(t.Creds)
		if err := credentials(file); err != nil {
			return nil, err
		}
		all = append(all, nats.UserCredentials(file))
	case t.NKey != "":
		file := t.env.expand(t.NKey)
		option, err := nats.NkeyOptionFromSeed(file)
		if err != nil {
			return nil, fmt.Errorf("nkey %s (--nkey, NATS_NKEY): %w", file, err)
		}
		all = append(all, option)
	case t.UserJWT != "":
		bearer := func() (string, error) { return t.UserJWT, nil }
		all = append(all, nats.UserJWT(bearer, func([]byte) ([]byte, error) { return nil, nil }))
	case t.Token != "":
		all = append(all, nats.Token(t.Token))
	}
	if t.Cert != "" {
		cert, key := t.env.expand(t.Cert), t.env.expand(t.Key)
		if _, err := tls.LoadX509KeyPair(cert, key); err != nil {
			return nil, fmt.Errorf("read certificate %s with key %s (--tlscert, --tlskey): %w", cert, key, err)
		}
		all = append(all, nats.ClientCert(cert, key))
	}
	if t.CA != "" {
		ca := t.env.expand(t.CA)
		if err := authority(ca); err != nil {
			return nil, err
		}
		all = append(all, nats.RootCAs(ca))
	}
	if t.TLSFirst {
		all = append(all, nats.TLSHandshakeFirst())
	}
	if t.InboxPrefix != "" {
		all = append(all, nats.CustomInboxPrefix(t.InboxPrefix))
	}
	return all, nil
}

// credentials checks a file of credentials before the client does so, with less clear errors, at
// each attempt to connect.
func credentials(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read credentials (--creds): %w", err)
	}
	key, err := nkeys.ParseDecoratedUserNKey(data)
	if err != nil {
		return fmt.Errorf("credentials %s (--creds, NATS_CREDS): %w: give a file that nsc has written", file, err)
	}
	key.Wipe()
	return nil
}

// authority checks a file of certificate authorities.
func authority(file string) error {
	data, err := os.ReadFile(file)
	if err != nil {
		return fmt.Errorf("read certificate authority (--tlsca): %w", err)
	}
	if !x509.NewCertPool().AppendCertsFromPEM(data) {
		return fmt.Errorf("certificate authority %s (--tlsca, NATS_CA): it contains no certificate: give a file in PEM form",
			file)
	}
	return nil
}

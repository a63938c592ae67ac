package connect

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/nats-io/nats.go"
)

// Options are those of a connection as this user. Errors: a file that cannot be read.
func (t Target) Options() ([]nats.Option, error) {
	var all []nats.Option
	switch {
	case t.User != "":
		all = append(all, nats.UserInfo(t.User, t.Password))
	case t.Creds != "":
		file := expand(t.Creds)
		if err := readable("credentials", "--creds", file); err != nil {
			return nil, err
		}
		all = append(all, nats.UserCredentials(file))
	case t.NKey != "":
		file := expand(t.NKey)
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
		cert, key := expand(t.Cert), expand(t.Key)
		if err := readable("certificate", "--tlscert", cert); err != nil {
			return nil, err
		}
		if err := readable("key", "--tlskey", key); err != nil {
			return nil, err
		}
		all = append(all, nats.ClientCert(cert, key))
	}
	if t.CA != "" {
		ca := expand(t.CA)
		if err := readable("certificate authority", "--tlsca", ca); err != nil {
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

// readable says plainly what is wrong with a file before a TLS or NATS error says it in other words.
func readable(what, flag, file string) error {
	f, err := os.Open(file)
	if err != nil {
		return fmt.Errorf("read %s (%s): %w", what, flag, err)
	}
	return f.Close()
}

// expand replaces a leading ~ as the nats tool does in its contexts.
func expand(path string) string {
	rest, ok := strings.CutPrefix(path, "~/")
	if !ok {
		return path
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return path
	}
	return filepath.Join(home, rest)
}

package roles

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// mostGreeting is how much of the first line of a server is read.
const mostGreeting = 64 << 10

// greets looks whether a server can be reached, speaks as a NATS server does, and has a certificate
// that nc accepts, as far as that can be learned without logging in.
func greets(ctx context.Context, nc *nats.Conn, address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, nc.Opts.Timeout)
	defer cancel()
	var conn net.Conn
	if nc.Opts.CustomDialer != nil {
		conn, err = nc.Opts.CustomDialer.Dial("tcp", u.Host)
	} else {
		conn, err = (&net.Dialer{}).DialContext(ctx, "tcp", u.Host)
	}
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }() // nothing was written
	if err := conn.SetDeadline(time.Now().Add(nc.Opts.Timeout)); err != nil {
		return err
	}
	switch {
	case strings.HasPrefix(u.Scheme, "ws"):
		return nil
	case nc.Opts.TLSHandshakeFirst:
		return shake(ctx, nc, conn, u.Hostname())
	}
	secure, err := greeting(conn)
	if err != nil || !secure && u.Scheme != "tls" {
		return err
	}
	return shake(ctx, nc, conn, u.Hostname())
}

// greeting reads the first line of a server, which says whether it demands TLS.
func greeting(conn net.Conn) (secure bool, err error) {
	const word = "INFO "
	lines := bufio.NewReaderSize(conn, mostGreeting)
	if begin, err := lines.Peek(len(word)); err != nil {
		return false, err
	} else if string(begin) != word {
		return false, errors.New("it is not a NATS server")
	}
	line, err := lines.ReadSlice('\n')
	if err != nil {
		return false, err
	}
	var info struct {
		Secure bool `json:"tls_required"`
	}
	if err := json.Unmarshal(bytes.TrimPrefix(line, []byte(word)), &info); err != nil {
		return false, fmt.Errorf("read its greeting: %w", err)
	}
	return info.Secure, nil
}

// shake shakes hands as nc does with a server of this name.
func shake(ctx context.Context, nc *nats.Conn, conn net.Conn, host string) error {
	if path, is := nc.Opts.CustomDialer.(interface{ SkipTLSHandshake() bool }); is && path.SkipTLSHandshake() {
		return nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if nc.Opts.TLSConfig != nil {
		config = nc.Opts.TLSConfig.Clone()
	}
	if nc.Opts.TLSCertCB != nil {
		cert, err := nc.Opts.TLSCertCB()
		if err != nil {
			return err
		}
		config.Certificates = []tls.Certificate{cert}
	}
	if nc.Opts.RootCAsCB != nil {
		pool, err := nc.Opts.RootCAsCB()
		if err != nil {
			return err
		}
		config.RootCAs = pool
	}
	if config.ServerName == "" {
		config.ServerName = host
	}
	return tls.Client(conn, config).HandshakeContext(ctx)
}

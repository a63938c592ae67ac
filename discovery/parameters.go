package discovery

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// parameters are those of the URL of a source. The first fault counts.
type parameters struct {
	kind   string
	values url.Values
	err    error
}

func (p *parameters) refuse(fix string) {
	if p.err == nil {
		p.err = &ParseError{p.kind + ": " + fix}
	}
}

// end is the first fault. A parameter that was not taken is one.
func (p *parameters) end() error {
	if left := slices.Sorted(maps.Keys(p.values)); len(left) > 0 {
		p.refuse(fmt.Sprintf("it has no parameter %q: leave it out", left[0]))
	}
	return p.err
}

// text takes a parameter.
func (p *parameters) text(name string) string {
	all := p.values[name]
	delete(p.values, name)
	if len(all) > 1 {
		p.refuse(fmt.Sprintf("it has the parameter %s twice: give it once", name))
	}
	if len(all) == 0 {
		return ""
	}
	return all[0]
}

func (p *parameters) duration(name string) time.Duration {
	text := p.text(name)
	if text == "" {
		return 0
	}
	d, err := time.ParseDuration(text)
	if err != nil || d < leastEvery || d > 24*time.Hour {
		p.refuse(fmt.Sprintf("%s=%q is not a duration from %v to 24h: write one such as 10s", name, text, leastEvery))
	}
	return d
}

func (p *parameters) flag(name string) bool {
	text := p.text(name)
	if text == "" {
		return false
	}
	b, err := strconv.ParseBool(text)
	if err != nil {
		p.refuse(fmt.Sprintf("%s=%q is not true or false: use one of these", name, text))
	}
	return b
}

// scheme is that of the servers.
func (p *parameters) scheme() string {
	text := p.text("scheme")
	if text != "" && !slices.Contains(schemes, text) {
		p.refuse(fmt.Sprintf("scheme=%q is not one of %s: use one of these", text, strings.Join(schemes, ", ")))
	}
	return text
}

// service is the address of a service, and the client for it, nil for the standard one.
func (p *parameters) service(u *url.URL, otherwise string) (string, *http.Client) {
	if u.Port() != "" && !validPort(u.Port()) {
		p.refuse("the port is not one from 1 to 65535: give that of the service, or none")
	}
	scheme, client := p.transport()
	return scheme + "://" + at(u, otherwise), client
}

// transport is http or https, and the client for it, nil for the standard one.
func (p *parameters) transport() (string, *http.Client) {
	ca, cert, key := p.text("ca"), p.text("cert"), p.text("key")
	secure := p.flag("tls") || ca+cert+key != ""
	if (cert == "") != (key == "") {
		p.refuse("a client certificate needs its key: give both cert and key")
	}
	if !secure {
		return "http", nil
	}
	if ca+cert == "" {
		return "https", nil
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if ca != "" {
		config.RootCAs = p.authority(ca)
	}
	if cert != "" {
		pair, err := keyPair(cert, key)
		if err != nil {
			p.refuse(fmt.Sprintf("read the certificate %s with the key %s: %v", cert, key, err))
		}
		config.Certificates = []tls.Certificate{pair}
	}
	return "https", plain(config)
}

// authority reads a file of certificate authorities.
func (p *parameters) authority(file string) *x509.CertPool {
	pool, err := authorities(file)
	if err != nil {
		p.refuse(err.Error())
	}
	return pool
}

func keyPair(cert, key string) (tls.Certificate, error) {
	public, err := secret(cert)
	if err != nil {
		return tls.Certificate{}, err
	}
	private, err := secret(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair([]byte(public), []byte(private))
}

func authorities(file string) (*x509.CertPool, error) {
	text, err := secret(file)
	if err != nil {
		return nil, fmt.Errorf("read the certificate authority: %w", err)
	}
	pool := x509.NewCertPool()
	if !pool.AppendCertsFromPEM([]byte(text)) {
		return nil, fmt.Errorf("certificate authority %s: it contains no certificate: give a file in PEM form", file)
	}
	return pool, nil
}

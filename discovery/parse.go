package discovery

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Parse makes the source that a URL names. It does no look-up.
//
//	nats://a:4222,nats://b:4222               these servers
//	file:///etc/nats/servers                  a file, see File
//	srv://_nats._tcp.example.org              SRV records, see SRV
//	consul://127.0.0.1:8500/nats              a service in Consul, see Consul
//	etcd://e1:2379,e2:2379/nats               the keys below /nats/ in etcd, see Etcd
//	k8s://namespace/service:nats              the endpoints of a Service at a port, see Kubernetes
//
// Parameters stand behind a question mark: every (file, srv), such as 10s; scheme of the servers
// (srv, consul, k8s), such as tls; dc, tag (consul); wait (consul, etcd, k8s); user and passfile
// (etcd); domain, api and tokenfile (k8s). A service that is reached by TLS takes tls=true, and the
// files ca, cert and key. Without api, Kubernetes is asked by the service account of the pod.
//
// The token of Consul is that of CONSUL_HTTP_TOKEN, or the content of CONSUL_HTTP_TOKEN_FILE, which
// is read before each question. The user of etcd is user, with the password in passfile, which is
// read before each reading; else those of ETCDCTL_USER and ETCDCTL_PASSWORD, if they are set.
//
// Errors: *[ParseError], *[AddressError].
func Parse(source string) (Servers, error) {
	kind, rest, found := strings.Cut(source, "://")
	if !found || slices.Contains(schemes, kind) {
		return parseStatic(source)
	}
	authority := ""
	if kind == "etcd" { // it has several hosts, which a URL has not
		authority, rest = members(rest)
	}
	u, err := url.Parse("source://" + rest)
	if err != nil {
		return nil, &ParseError{kind + ": it is not a URL: write it as in the documentation of discovery.Parse"}
	}
	values, err := url.ParseQuery(u.RawQuery)
	if err != nil {
		return nil, &ParseError{kind + ": the parameters cannot be read: write them as ?name=value&name=value"}
	}
	p := &parameters{kind: kind, values: values}
	if u.User != nil {
		p.refuse("a user is not written into this URL: leave it out")
	}
	if u.Fragment != "" {
		p.refuse("the part behind # has no meaning: leave it out")
	}
	var servers Servers
	switch kind {
	case "file":
		servers = parseFile(u, p)
	case "srv":
		servers = parseSRV(u, p)
	case "consul":
		servers = parseConsul(u, p)
	case "etcd":
		servers = parseEtcd(authority, u, p)
	case "k8s":
		servers = parseKubernetes(u, p)
	default:
		p.err = &ParseError{fmt.Sprintf("%q is not a source of servers: use nats, file, srv, consul, etcd or k8s", kind)}
	}
	if err := p.end(); err != nil {
		return nil, err
	}
	return servers, nil
}

func parseStatic(source string) (Servers, error) {
	var list Static
	for address := range strings.SplitSeq(source, ",") {
		list = append(list, Server{URL: address})
	}
	all, err := Normal(list)
	if err != nil {
		return nil, err
	}
	return Static(all), nil
}

func parseFile(u *url.URL, p *parameters) Servers {
	if u.Host != "" || u.Path == "" {
		p.refuse("it needs a path that begins with a slash: write file:///etc/nats/servers")
	}
	return File{Path: u.Path, Every: p.duration("every")}
}

func parseSRV(u *url.URL, p *parameters) Servers {
	if u.Host == "" || u.Port() != "" || strings.Trim(u.Path, "/") != "" {
		p.refuse("it needs the name of the records alone: write srv://_nats._tcp.example.org")
	}
	return SRV{Name: u.Hostname(), Scheme: p.scheme(), Every: p.duration("every")}
}

func parseConsul(u *url.URL, p *parameters) Servers {
	service := strings.Trim(u.Path, "/")
	if service == "" || strings.Contains(service, "/") {
		p.refuse("it needs the name of one service: write consul://127.0.0.1:8500/nats")
	}
	c := Consul{
		Service: service, Tag: p.text("tag"), Datacenter: p.text("dc"), Scheme: p.scheme(), Wait: p.duration("wait"),
		Token: consulToken,
	}
	c.Address, c.Client = p.service(u, "127.0.0.1:8500")
	return c
}

// consulToken is the token, from where Consul's own tools take it.
func consulToken() (string, error) {
	if file := os.Getenv("CONSUL_HTTP_TOKEN_FILE"); file != "" {
		return secret(file)
	}
	return os.Getenv("CONSUL_HTTP_TOKEN"), nil
}

// secret is the content of a file, without spaces around it.
func secret(file string) (string, error) {
	text, err := content(file)
	return strings.TrimSpace(string(text)), err
}

// base is the address of a service, with http if it has no scheme.
func base(address string) (*url.URL, error) {
	if !strings.Contains(address, "://") {
		address = "http://" + address
	}
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" || u.User != nil ||
		u.Port() != "" && !validPort(u.Port()) {
		return nil, &ConfigError{"Address", "it cannot be used: write http://host:port or https://host:port"}
	}
	return u, nil
}

func validPort(text string) bool {
	port, err := strconv.Atoi(text)
	return err == nil && 1 <= port && port <= 65535
}

// at is the host and the port of a URL, or otherwise.
func at(u *url.URL, otherwise string) string {
	_, port, err := net.SplitHostPort(otherwise)
	if u.Hostname() == "" || err != nil {
		return otherwise
	}
	return net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), port))
}

// leastEvery is the shortest pause between two looks at a source that is named by a URL.
const leastEvery = 100 * time.Millisecond

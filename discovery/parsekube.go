package discovery

import (
	"net/url"
	"strings"
)

func parseKubernetes(u *url.URL, p *parameters) Servers {
	name, port, _ := strings.Cut(strings.Trim(u.Path, "/"), ":")
	if name == "" || strings.Contains(name, "/") {
		p.refuse("it needs the name of one Service: write k8s://namespace/service or k8s://namespace/service:port")
	}
	if strings.ContainsAny(name+port, ":. ") || port != "" && strings.Trim(port, "0123456789") == "" && !validPort(port) {
		p.refuse("the Service or its port cannot be: write k8s://namespace/service:port")
	}
	if u.Port() != "" {
		p.refuse("the port stands behind the Service: write k8s://namespace/service:port")
	}
	k := Kubernetes{
		Namespace: u.Hostname(), Service: name, Port: port, Domain: p.text("domain"), Scheme: p.scheme(),
		Wait: p.duration("wait"), Address: p.text("api"),
	}
	scheme, client := p.transport()
	if file := p.text("tokenfile"); file != "" {
		k.Token = func() (string, error) { return secret(file) }
	}
	if k.Address == "" {
		if client != nil || scheme == "https" || k.Token != nil {
			p.refuse("ca, cert, key and tokenfile belong to an API server: name it, such as by api=https://10.96.0.1")
		}
		return k
	}
	address, err := base(k.Address)
	if err != nil {
		p.refuse("api cannot be used: write api=http://host:port or api=https://host:port")
		return k
	}
	if scheme == "https" {
		address.Scheme = scheme
	}
	k.Address, k.Client = address.String(), client
	return k
}

package discovery

import (
	"net/url"
	"os"
	"strings"
)

// members takes the hosts out of a URL without its scheme: host:port,host:port/path?parameters.
func members(rest string) (authority, others string) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	return rest[:end], rest[end:]
}

func parseEtcd(authority string, u *url.URL, p *parameters) Servers {
	prefix := strings.TrimRight(u.Path, "/")
	if prefix == "" {
		p.refuse("it needs the prefix of the keys: write etcd://127.0.0.1:2379/nats")
	}
	e := Etcd{Prefix: prefix + "/", Wait: p.duration("wait")}
	user, file := p.text("user"), p.text("passfile")
	if (user == "") != (file == "") {
		p.refuse("a user needs a password: give both user and passfile, or set ETCDCTL_USER and ETCDCTL_PASSWORD")
	}
	e.Login = func() (string, string, error) {
		if file == "" {
			user, password := etcdctlUser()
			return user, password, nil
		}
		password, err := secret(file)
		return user, password, err
	}
	scheme, client := p.transport()
	e.Client = client
	if strings.Contains(authority, "@") {
		p.refuse("a user is not written into the URL: give user and passfile, or set ETCDCTL_USER and ETCDCTL_PASSWORD")
		return e
	}
	for host := range strings.SplitSeq(authority, ",") {
		member, err := url.Parse("source://" + host)
		if err != nil || host != "" && member.Hostname() == "" || member.Port() != "" && !validPort(member.Port()) {
			p.refuse("a host cannot be used: write etcd://host:port,host:port/nats")
			return e
		}
		e.Endpoints = append(e.Endpoints, scheme+"://"+at(member, "127.0.0.1:2379"))
	}
	return e
}

// etcdctlUser is the user and the password, from where etcdctl takes them.
func etcdctlUser() (user, password string) {
	user = os.Getenv("ETCDCTL_USER")
	if password = os.Getenv("ETCDCTL_PASSWORD"); password != "" {
		return user, password
	}
	user, password, _ = strings.Cut(user, ":")
	return user, password
}

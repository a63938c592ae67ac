package discovery

import (
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestParse(t *testing.T) {
	for text, want := range map[string]Servers{
		"nats://b,nats://a:1":               Static{{"nats://a:1", ""}, {"nats://b:4222", ""}},
		"a":                                 Static{{"nats://a:4222", ""}},
		"wss://a":                           Static{{"wss://a:443", ""}},
		"nats://A/,a":                       Static{{"nats://a:4222", ""}},
		"nats://[fe80::1%25Eth0]":           Static{{"nats://[fe80::1%25Eth0]:4222", ""}},
		"file:///etc/nats/servers?every=3s": File{Path: "/etc/nats/servers", Every: 3 * time.Second},
		"srv://_nats._tcp.example.org?scheme=tls": SRV{Name: "_nats._tcp.example.org", Scheme: "tls"},
		"consul:///nats":                   Consul{Service: "nats", Address: "http://127.0.0.1:8500"},
		"consul://c/nats?tls=true&wait=1m": Consul{Service: "nats", Address: "https://c:8500", Wait: time.Minute},
		"consul://[::1]:1/nats?dc=x&tag=y&scheme=ws": Consul{
			Service: "nats", Address: "http://[::1]:1", Datacenter: "x", Tag: "y", Scheme: "ws",
		},
		"etcd:///nats": Etcd{Endpoints: []string{"http://127.0.0.1:2379"}, Prefix: "/nats/"},
		"etcd://e,[::1]:1/a/b/?tls=true&wait=1m": Etcd{
			Endpoints: []string{"https://e:2379", "https://[::1]:1"}, Prefix: "/a/b/", Wait: time.Minute,
		},
		"k8s://prod/nats":  Kubernetes{Namespace: "prod", Service: "nats"},
		"k8s:///nats:4222": Kubernetes{Service: "nats", Port: "4222"},
		"k8s://prod/nats:client?scheme=tls&domain=svc&wait=1m&api=https://k:6443": Kubernetes{
			Namespace: "prod", Service: "nats", Port: "client", Scheme: "tls", Domain: "svc", Wait: time.Minute,
			Address: "https://k:6443",
		},
	} {
		got, err := Parse(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if c, is := got.(Consul); is {
			c.Token = nil // functions do not compare
			got = c
		}
		if e, is := got.(Etcd); is {
			e.Login = nil
			got = e
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %+v, want %+v", text, got, want)
		}
	}
}

func TestParseSaysWhatIsWrong(t *testing.T) {
	for text, want := range map[string]string{
		"":                                      "use nats://host:port",
		"nats://a,http://u:secret@b":            "use nats://host:port",
		"zookeeper://a":                         "use nats, file, srv, consul, etcd or k8s",
		"file://etc/nats":                       "write file:///etc/nats/servers",
		"file:///x?every=1ms":                   "write one such as 10s",
		"file:///x?often=1s":                    `no parameter "often"`,
		"file:///x?every=1s&every=2s":           "twice",
		"file:///x?%zz":                         "parameters cannot be read",
		"srv://a:1":                             "the name of the records alone",
		"srv://a?scheme=http":                   "is not one of nats",
		"consul://a":                            "the name of one service",
		"consul://a/b/c":                        "the name of one service",
		"consul://a/nats?tls=maybe":             "is not true or false",
		"consul://a/nats?cert=/none":            "give both cert and key",
		"consul://a/nats?ca=/none/none":         "read the certificate authority",
		"consul://a/nats?cert=/n/n&key=/n/":     "read the certificate",
		"consul://u:secret@a:b/nats":            "is not a URL",
		"k8s://prod":                            "the name of one Service",
		"k8s://prod/a/b":                        "the name of one Service",
		"k8s://prod:4222/a":                     "the port stands behind the Service",
		"k8s://prod/a?ca=/none/none":            "read the certificate authority",
		"k8s://prod/a?tokenfile=/none":          "belong to an API server",
		"k8s://prod/a?api=unix:///x":            "api cannot be used",
		"srv://u:secret@_nats._tcp.a":           "a user is not written into this URL",
		"consul://u:secret@a/nats":              "a user is not written into this URL",
		"k8s://u:secret@prod/nats":              "a user is not written into this URL",
		"k8s://prod/nats?api=http://u:secret@k": "api cannot be used",
		"k8s://prod/nats:70000":                 "cannot be",
		"k8s://prod/nats:a:b":                   "cannot be",
		"k8s://prod/..":                         "cannot be",
		"consul://a:0/nats":                     "the port is not one from 1 to 65535",
		"consul://a:70000/nats":                 "the port is not one from 1 to 65535",
		"consul:///nats#x":                      "has no meaning",
		"file:///x#y":                           "has no meaning",
		"unix:///tmp/nats.sock":                 "is not a source of servers",
		"nats://":                               "use nats://host:port",
		"nats://:4222":                          "use nats://host:port",
		"a,,b":                                  "use nats://host:port",
		"a:0":                                   "the port is not one",
		"a:70000":                               "the port is not one",
		"nats://u:secret@a/path":                "has no path",
		"nats://a?x=y":                          "has no path",
		"nats://[fe80::1%eth0]:4222":            "is not a URL",
		"::1":                                   "in brackets",
		"etcd://a,,b:0/nats":                    "a host cannot be used",
		"etcd:///nats#x":                        "has no meaning",
		"etcd://a":                              "needs the prefix of the keys",
		"etcd://a/":                             "needs the prefix of the keys",
		"etcd://a,b:x/nats":                     "a host cannot be used",
		"etcd://a:70000/nats":                   "a host cannot be used",
		"etcd://u:secret@a/nats":                "is not written into the URL",
		"etcd://a/nats?user=x":                  "give both user and passfile",
	} {
		_, err := Parse(text)
		if !errors.As(err, new(*ParseError)) && !errors.As(err, new(*AddressError)) || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		if err != nil && strings.Contains(err.Error(), "secret") {
			t.Errorf("%s: the password is in %v", text, err)
		}
	}
}

// TestTenThousand: a list that is too long is refused, whatever names it.
func TestTenThousand(t *testing.T) {
	var list Static
	for i := range 10_000 {
		list = append(list, Server{URL: fmt.Sprintf("n%d", i)})
	}
	if _, err := list.Next(bound(t), nil); !errors.Is(err, ErrTooMany) {
		t.Error(err)
	}
}

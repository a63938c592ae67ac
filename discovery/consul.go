package discovery

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Consul is the list of the instances of a service whose checks pass. It waits for changes by
// blocking queries on /v1/health/service.
//
// The zone of a server is the entry "zone" of the metadata of the service, else that of its node.
type Consul struct {
	// Address of the agent. Default "http://127.0.0.1:8500".
	Address string
	// Service is the name of the service.
	Service string
	// Tag, if set, leaves out instances without it.
	Tag string
	// Datacenter, if set, is asked instead of the agent's own.
	Datacenter string
	// Scheme of the URLs. Default "nats".
	Scheme string
	// Token, if set, is called for the ACL token before each question.
	Token func() (string, error)
	// Wait is how long one question may block. Default 5 min, minimum 1 s, maximum 10 min.
	Wait time.Duration
	// Client, if set, makes the requests. It needs no timeout.
	Client *http.Client
}

// Next implements [Servers]. Errors: *[LookupError], *[ConfigError], and that of ctx.
func (c Consul) Next(ctx context.Context, last []Server) ([]Server, error) {
	if c.Service == "" {
		return nil, &ConfigError{"Service", "it is empty: name the service of the NATS servers"}
	}
	at, err := base(cmp.Or(c.Address, "http://127.0.0.1:8500"))
	if err != nil {
		return nil, err
	}
	source := "consul " + at.Host + "/" + c.Service
	index := uint64(0) // answers at once
	for {
		var next uint64
		list, err := once(ctx, source, c.patience(index), func(ctx context.Context) (list []Server, err error) {
			list, next, err = c.query(ctx, at, index)
			return list, err
		})
		if err != nil || !Same(list, last) {
			return list, err
		}
		if next < index || next == 0 { // Consul says: begin again, and an index is above 0
			next = 1
		}
		if next == index { // the wait is over, or the agent does not block
			if err := pause(ctx, jittered(time.Second)); err != nil {
				return nil, err
			}
		}
		index = next
	}
}

// blocks is how long a question may block.
func (c Consul) blocks() time.Duration {
	return min(max(cmp.Or(c.Wait, 5*time.Minute), time.Second), 10*time.Minute)
}

// patience is how long a question may take. Consul adds up to a sixteenth to the wait.
func (c Consul) patience(index uint64) time.Duration {
	if index == 0 {
		return within
	}
	return c.blocks() + c.blocks()/16 + within
}

func (c Consul) query(ctx context.Context, at *url.URL, index uint64) ([]Server, uint64, error) {
	u := at.JoinPath("v1", "health", "service", url.PathEscape(c.Service))
	q := url.Values{"passing": {"1"}}
	for name, value := range map[string]string{"tag": c.Tag, "dc": c.Datacenter} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if index > 0 {
		q.Set("index", strconv.FormatUint(index, 10))
		q.Set("wait", strconv.FormatInt(c.blocks().Milliseconds(), 10)+"ms")
	}
	u.RawQuery = q.Encode()
	r, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, 0, err
	}
	if err := authorize(r, c.Token); err != nil {
		return nil, 0, err
	}
	answer, err := ask(ctx, c.Client, r)
	if err != nil {
		return nil, 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := bounded(answer.Body)
	if err != nil {
		return nil, 0, err
	}
	list, err := readConsul(text, c.Scheme)
	if err != nil {
		return nil, 0, err
	}
	next, err := strconv.ParseUint(strings.TrimSpace(answer.Header.Get("X-Consul-Index")), 10, 64)
	if err != nil {
		next = 0 // something between has dropped it: then it is asked again after a pause
	}
	return list, next, nil
}

// authorize gives a request the ACL token.
func authorize(r *http.Request, get func() (string, error)) error {
	if get == nil {
		return nil
	}
	token, err := get()
	if err != nil {
		return fmt.Errorf("get the token: %w", err)
	}
	if token != "" {
		r.Header.Set("X-Consul-Token", token)
	}
	return nil
}

// readConsul reads an answer of /v1/health/service.
func readConsul(text []byte, scheme string) (list []Server, err error) {
	var entries []struct {
		Node struct {
			Address string
			Meta    map[string]string
		}
		Service struct {
			Address string
			Port    int
			Meta    map[string]string
		}
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("read the answer of Consul: %w", err)
	}
	for _, e := range entries {
		host := cmp.Or(e.Service.Address, e.Node.Address)
		if host == "" || !validPort(strconv.Itoa(e.Service.Port)) {
			return nil, &AddressError{host, "an instance of the service has no address or no port: register both"}
		}
		list = append(list, Server{
			address(scheme, host, e.Service.Port), cmp.Or(e.Service.Meta["zone"], e.Node.Meta["zone"]),
		})
	}
	return list, nil
}

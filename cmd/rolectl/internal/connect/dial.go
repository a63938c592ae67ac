package connect

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
)

// Error says that the server could not be reached, or that it rejected this user.
type Error struct {
	To  string
	Err error
}

func (e *Error) Error() string { return fmt.Sprintf("connect to %s: %v", e.To, e.Err) }

func (e *Error) Unwrap() error { return e.Err }

// Dial connects within Timeout. The options override those of the target. Errors: *Error, and those
// of Options.
func (t Target) Dial(options ...nats.Option) (*nats.Conn, error) {
	own, err := t.Options()
	if err != nil {
		return nil, err
	}
	servers := strings.Split(t.URL, ",")
	each := t.Timeout / time.Duration(len(servers)) // for one dial and its handshake together
	first := &dialer{each: each, until: time.Now().Add(t.Timeout)}
	all := []nats.Option{
		nats.Name("rolectl"),
		nats.Timeout(each), nats.SetCustomDialer(first), nats.SkipHostLookup(),
		nats.ErrorHandler(func(*nats.Conn, *nats.Subscription, error) {}), // callers get the error as their answer
	}
	nc, err := nats.Connect(t.URL, append(append(all, own...), options...)...)
	if err != nil {
		return nil, &Error{t.Address(), first.explain(err, t.Timeout)}
	}
	first.connected.Store(true)
	return nc, nil
}

// schemes are the URL schemes that the client knows. It treats any other as nats.
var schemes = []string{"nats", "tls", "ws", "wss"}

// hasAddresses reports whether every server of the target can be dialled.
func (t Target) hasAddresses() bool {
	for s := range strings.SplitSeq(t.URL, ",") {
		if !dialable(s) {
			return false
		}
	}
	return true
}

func dialable(s string) bool {
	s = strings.TrimSpace(s)
	if !strings.Contains(s, "://") {
		s = "nats://" + s
	}
	u, err := url.Parse(s)
	if err != nil || !slices.Contains(schemes, u.Scheme) || u.Hostname() == "" ||
		strings.ContainsAny(u.Hostname(), "[]") || strings.Contains(u.Hostname(), ":") && !strings.HasPrefix(u.Host, "[") {
		return false
	}
	port, err := strconv.Atoi(u.Port())
	return u.Port() == "" || err == nil && 1 <= port && port <= 65535
}

// Address is the address of the target, without secrets.
func (t Target) Address() string {
	servers := strings.Split(t.URL, ",")
	secret := false // perhaps inside a password with commas
	for i, s := range servers {
		s = strings.TrimSpace(s)
		servers[i] = s
		if u, err := url.Parse(s); err == nil && u.User != nil {
			u.User, secret = nil, false
			servers[i] = u.String()
		} else if _, host, ok := strings.Cut(s, "@"); ok { // not a URL, or a URL without a scheme
			servers[i], secret = host, false
		} else if secret = secret || inPassword(s, servers[i+1:]); secret {
			servers[i] = "…"
		}
	}
	return strings.Join(servers, ", ")
}

// inPassword reports whether s may be a part of a password with commas, which ends in a later part.
func inPassword(s string, later []string) bool {
	i := slices.IndexFunc(later, func(s string) bool { return strings.Contains(s, "@") })
	return i >= 0 && (!dialable(s) || !strings.Contains(later[i], "://"))
}

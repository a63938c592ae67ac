package natskv

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
)

// Reach is the way from a connection to a JetStream. The zero value is the JetStream that answers
// without a prefix: that of the server's own domain, or of its default domain.
//
// The prefix comes before the subjects of the API, and before those of published records. Filters,
// guards and replies have none.
type Reach struct {
	domain, prefix string
}

// defaultAPI is the prefix of the API without a Reach.
const defaultAPI = "$JS.API"

var (
	domainName = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
	domainAPI  = regexp.MustCompile(`^\$JS\.([A-Za-z0-9_-]+)\.API$`)
	apiPrefix  = regexp.MustCompile(`^[^\s.*>]+(\.[^\s.*>]+)*$`)
)

// NewReach is the Reach of a JetStream domain, or of an API prefix as an account import has one. At
// most one of them may be given. The prefix "$JS.hub.API" means the domain hub.
func NewReach(domain, prefix string) (Reach, error) {
	prefix = strings.TrimSuffix(prefix, ".")
	if of := domainAPI.FindStringSubmatch(prefix); of != nil && domain == "" {
		domain, prefix = of[1], ""
	}
	switch {
	case domain != "" && prefix != "":
		return Reach{}, fmt.Errorf("domain %q and API prefix %q: use one of them", domain, prefix)
	case domain != "" && !domainName.MatchString(domain):
		return Reach{}, fmt.Errorf("%q is not a valid JetStream domain: use letters, digits, - and _", domain)
	case prefix != "" && !apiPrefix.MatchString(prefix):
		return Reach{}, fmt.Errorf("%q is not a valid API prefix: use words with dots between them, such as JS.a.API", prefix)
	case domain != "":
		return Reach{domain: domain, prefix: "$JS." + domain + ".API"}, nil
	case prefix == defaultAPI:
		prefix = ""
	}
	return Reach{prefix: prefix}, nil
}

// ReachOf is the Reach that a client of the jetstream package has.
func ReachOf(js jetstream.JetStream) Reach {
	o := js.Options()
	r, err := NewReach(o.Domain, o.APIPrefix)
	if err != nil {
		r = Reach{prefix: strings.TrimSuffix(o.APIPrefix, ".")}
	}
	return r
}

// JetStream is a client of the jetstream package with this Reach.
func (r Reach) JetStream(nc *nats.Conn) (jetstream.JetStream, error) {
	switch {
	case r.domain != "":
		return jetstream.NewWithDomain(nc, r.domain)
	case r.prefix != "":
		return jetstream.NewWithAPIPrefix(nc, r.prefix)
	}
	return jetstream.New(nc)
}

// IsZero reports whether the Reach has neither a domain nor a prefix.
func (r Reach) IsZero() bool { return r.prefix == "" }

// Domain is the configured domain, "" for none.
func (r Reach) Domain() string { return r.domain }

// API is the subject of a request to the JetStream API, such as "STREAM.INFO.KV_roles".
func (r Reach) API(request string) string {
	if r.prefix == "" {
		return defaultAPI + "." + request
	}
	return r.prefix + "." + request
}

// Publish is the subject to which a record is published that is stored under subject.
func (r Reach) Publish(subject string) string {
	if r.prefix == "" {
		return subject
	}
	return r.prefix + "." + subject
}

// Concerns reports whether the server's complaint is about a message that was published to subject.
// A server of the domain itself takes the domain off before it checks, so it complains about what
// is left.
func (r Reach) Concerns(d *PermissionError, subject string) bool {
	if d.Subscribe {
		return false
	}
	rest, ours := strings.CutPrefix(subject, r.prefix+".")
	if r.domain == "" || !ours {
		return d.Subject == subject
	}
	return d.Subject == subject || d.Subject == rest || d.Subject == defaultAPI+"."+rest
}

// Flags are the options of rolectl that give the Reach, with a space before them.
func (r Reach) Flags() string {
	switch {
	case r.domain != "":
		return " --js-domain " + r.domain
	case r.prefix != "":
		return " --js-api-prefix " + r.prefix
	}
	return ""
}

// accountAnswer is the API's answer to INFO.
type accountAnswer struct {
	Domain string              `json:"domain"`
	Error  *jetstream.APIError `json:"error"`
}

func (a *accountAnswer) fault() *jetstream.APIError { return a.Error }

// AnsweringDomain is the domain of the JetStream that answers, "" for none. It needs the permission
// to publish to $JS.API.INFO.
func (r Reach) AnsweringDomain(ctx context.Context, nc *nats.Conn) (string, error) {
	var a accountAnswer
	if err := request(ctx, nc, place{}, r.API("INFO"), nil, &a); err != nil {
		return "", err
	}
	return a.Domain, nil
}

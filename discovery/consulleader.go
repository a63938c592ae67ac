package discovery

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/rolemanager/rolemanager/election"
)

// ConsulLeader announces the leader of a role as the one instance of a service in Consul. Its
// metadata has the epoch, as "rolemanager-epoch". It is registered at the agent of this host when
// no other instance passes its checks, and deregistered when the context of the term ends. Its
// check has a TTL, so that the instance of a dead process goes.
//
// A leader removes instances of earlier terms, and gives way to one of a later term. Consul has no
// registration on a condition: a request that the network has held back can name a former leader,
// until the present one sees that and removes it, milliseconds later. A reader that must be sure
// takes the highest epoch, and a resource checks fencing tokens.
//
// The ACL token needs service:write for the service, and node:read. So it also removes the instance
// of a process that has died.
type ConsulLeader struct {
	// Session is the session of the role: that of its manager.
	Session *election.Session
	// Service is the name of the service, which belongs to this role alone.
	Service string
	// Host and Port are where the work of the leader is reached. Default of Host: that of the agent.
	Host string
	Port int
	// Tags of the instance.
	Tags []string
	// Agent is the address of the agent. Default "http://127.0.0.1:8500".
	Agent string
	// Token, if set, is called for the ACL token before each request.
	Token func() (string, error)
	// TTL of the check. Default 10 s, minimum 1 s. Consul removes an instance a minute after its check
	// has failed.
	TTL time.Duration
	// OnError is called with what keeps the leader from being announced. It is tried again, unless
	// the error is [ErrStale]. Default: slog.Warn.
	OnError func(error)
	// Client, if set, makes the requests. It needs no timeout.
	Client *http.Client

	bucket string // of a test
}

// patience is for how long the end of an announcement may keep a role from being given away.
const patience = 2 * time.Second

// Lead is work that is announced in the term of work. The work begins at once, whether Consul
// answers or not. The announcement ends when the context of the term ends, beside the drain of
// work, and when work returns by itself. An error of the configuration ends the term:
// *[ConfigError].
func (l ConsulLeader) Lead(
	work func(context.Context, *election.Term) error,
) func(context.Context, *election.Term) error {
	return func(ctx context.Context, t *election.Term) error {
		a, err := l.announcement(t)
		if err != nil {
			return err
		}
		announcing, stop := context.WithCancel(ctx)
		over := make(chan struct{})
		go func() {
			defer close(over)
			a.keep(announcing)
		}()
		defer func() {
			stop()
			<-over
		}()
		return work(ctx, t)
	}
}

// announcement checks the configuration, and is that of one term.
func (l ConsulLeader) announcement(t *election.Term) (*announcement, error) {
	switch {
	case l.Session == nil && l.bucket == "":
		return nil, &ConfigError{"Session", "it is nil: set it to the Session of the manager"}
	case l.Service == "":
		return nil, &ConfigError{"Service", "it is empty: name a service for this role alone"}
	case l.Port < 1 || l.Port > 65535:
		return nil, &ConfigError{"Port", "it is not one from 1 to 65535: set where the work is reached"}
	}
	at, err := base(cmp.Or(l.Agent, "http://127.0.0.1:8500"))
	if err != nil {
		return nil, &ConfigError{"Agent", "it cannot be used: write http://host:port or https://host:port"}
	}
	if l.bucket == "" {
		l.bucket = l.Session.BucketID()
	}
	if l.OnError == nil {
		l.OnError = func(err error) { slog.Warn("announce the leader", "service", l.Service, "error", err) }
	}
	l.TTL = max(cmp.Or(l.TTL, 10*time.Second), time.Second)
	return newAnnouncement(l, at, t), nil
}

// keep announces, again three times in TTL and when the instances change, until ctx ends. Then it
// removes the announcement.
func (a *announcement) keep(ctx context.Context) {
	retry := backoff.NewExponentialBackOff()
	retry.InitialInterval, retry.MaxInterval = 50*time.Millisecond, a.TTL/3
	told := ""
	for a.term.Valid() {
		wait := a.TTL / 3
		err := a.announce(ctx)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			err = a.told(err)
			if err.Error() != told {
				told = err.Error()
				a.OnError(err)
			}
			if errors.Is(err, ErrStale) {
				break
			}
			wait = retry.NextBackOff()
		} else {
			told = ""
			retry.Reset()
		}
		if a.idle(ctx, wait) != nil {
			break
		}
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	retry.Reset()
	if _, err := backoff.Retry(ending, func() (struct{}, error) { return struct{}{}, a.remove(ending) },
		backoff.WithBackOff(retry)); err != nil {
		a.OnError(a.told(err))
	}
}

// told is an error for people.
func (a *announcement) told(err error) error {
	return fmt.Errorf("discovery: announce the leader to consul %s/%s: %w", a.at.Host, a.Service, err)
}

// in is the URL of a path of the agent.
func (a *announcement) in(path ...string) *url.URL {
	for i := range path {
		path[i] = url.PathEscape(path[i])
	}
	return a.at.JoinPath(path...)
}

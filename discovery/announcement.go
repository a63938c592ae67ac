package discovery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"github.com/rolemanager/rolemanager/election"
)

// Metadata of an instance that announces a leader.
const (
	metaRole   = "rolemanager-role"
	metaBucket = "rolemanager-bucket-id"
	metaEpoch  = "rolemanager-epoch"
)

// shortest is the time between two looks at instances that change all the time.
const shortest = 100 * time.Millisecond

// announcement is that of one term.
type announcement struct {
	ConsulLeader
	at    *url.URL
	term  *election.Term
	id    string // of the instance, which no other term has
	epoch uint64 // that is registered, 0 for none
	sent  bool   // a registration, so that it may be there
	index uint64 // of the last look at the instances, 0 if Consul does not say
}

func newAnnouncement(l ConsulLeader, at *url.URL, t *election.Term) *announcement {
	id := fmt.Sprintf("%s-%.8s-%d", l.Service, l.bucket, t.Epoch())
	return &announcement{ConsulLeader: l, at: at, term: t, id: id}
}

// leader is an instance of the service, as Consul has it.
type leader struct {
	node, id     string
	role, bucket string
	epoch        uint64
	passing      bool
}

// announce makes this leader the one instance that passes its checks. Errors: ErrStale, ErrForeign,
// *ResponseError, those of the connection.
func (a *announcement) announce(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	a.index = 0
	if err := a.alone(ctx, true); err != nil {
		return err
	}
	if !a.term.Valid() {
		return nil // the caller removes it
	}
	if epoch := a.term.Epoch(); a.epoch != epoch {
		return a.register(ctx, epoch)
	}
	err := a.call(ctx, http.MethodPut, a.in("v1", "agent", "check", "pass", "service:"+a.id), nil)
	if errors.As(err, new(*ResponseError)) { // the agent has forgotten it, as after a restart
		return a.register(ctx, a.epoch)
	}
	return err
}

// alone looks whether another instance passes its checks. It removes those of earlier terms, and
// looks again.
func (a *announcement) alone(ctx context.Context, remove bool) error {
	// A follower of Consul may not know of an instance yet.
	all, index, err := a.look(ctx, "consistent")
	if err != nil {
		return err
	}
	a.index = index
	removed := false
	for _, other := range all {
		if other.id == a.id {
			continue
		}
		earlier, err := a.judge(other)
		if err != nil {
			return err
		}
		if !earlier || !other.passing {
			continue
		}
		if !remove {
			return fmt.Errorf("the leader of epoch %d is still announced: it goes when its check fails", other.epoch)
		}
		// It may not be allowed to. Then the check fails in a while.
		_ = a.call(ctx, http.MethodPut, a.in("v1", "catalog", "deregister"),
			map[string]string{"Node": other.node, "ServiceID": other.id})
		removed = true
	}
	if removed {
		return a.alone(ctx, false)
	}
	return nil
}

// look reads the instances, and the index of that.
func (a *announcement) look(ctx context.Context, query string) ([]leader, uint64, error) {
	u := a.in("v1", "health", "service", a.Service)
	u.RawQuery = query
	text, header, err := a.send(ctx, http.MethodGet, u, nil)
	if err != nil {
		return nil, 0, err
	}
	index, err := strconv.ParseUint(header.Get("X-Consul-Index"), 10, 64)
	if err != nil {
		index = 0 // something between has dropped it
	}
	all, err := readLeaders(text)
	return all, index, err
}

// idle returns when the instances have changed since the last look, and after wait at the latest.
// So a former leader whose announcement comes late is soon seen. Errors: that of ctx.
func (a *announcement) idle(ctx context.Context, wait time.Duration) error {
	begun := time.Now()
	if a.index > 0 {
		timed, cancel := context.WithTimeout(ctx, wait)
		defer cancel()
		query := fmt.Sprintf("index=%d&wait=%dms", a.index, wait.Milliseconds())
		if _, index, err := a.look(timed, query); err == nil && index != a.index {
			wait = min(wait, shortest)
		}
	}
	return pause(ctx, wait-time.Since(begun))
}

// judge says whether an instance is that of an earlier term, which has certainly ended. Errors:
// ErrStale if it is that of a later one, ErrForeign if nothing is known of that.
func (a *announcement) judge(other leader) (earlier bool, err error) {
	switch {
	case other.role != a.term.Role():
		return false, ErrForeign
	case other.bucket != a.bucket && other.passing:
		return false, fmt.Errorf("%w: it is led in another bucket", ErrForeign)
	case other.bucket != a.bucket:
		return false, nil // a bucket that was recreated begins with lower epochs
	case other.epoch > a.term.Epoch():
		return false, ErrStale
	}
	return true, nil
}

// register registers the instance at the agent, or what has changed of it.
func (a *announcement) register(ctx context.Context, epoch uint64) error {
	a.sent = true
	err := a.call(ctx, http.MethodPut, a.in("v1", "agent", "service", "register"), map[string]any{
		"ID": a.id, "Name": a.Service, "Address": a.Host, "Port": a.Port, "Tags": a.Tags,
		"Meta": map[string]string{
			metaRole: a.term.Role(), metaBucket: a.bucket, metaEpoch: strconv.FormatUint(epoch, 10),
		},
		"Check": map[string]string{
			"CheckID": "service:" + a.id, "TTL": a.TTL.String(), "Status": "passing", "DeregisterCriticalServiceAfter": "1m",
		},
	})
	if err == nil {
		a.epoch = epoch
	}
	return err
}

// remove removes the instance, if it may be there.
func (a *announcement) remove(ctx context.Context) error {
	if !a.sent {
		return nil
	}
	err := a.call(ctx, http.MethodPut, a.in("v1", "agent", "service", "deregister", a.id), nil)
	if answer, is := errors.AsType[*ResponseError](err); is && answer.Status == http.StatusNotFound {
		return nil
	}
	return err
}

// call sends a request whose answer says nothing.
func (a *announcement) call(ctx context.Context, method string, u *url.URL, in any) error {
	_, _, err := a.send(ctx, method, u, in)
	return err
}

// send sends a request, and reads its answer.
func (a *announcement) send(ctx context.Context, method string, u *url.URL, in any) ([]byte, http.Header, error) {
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return nil, nil, err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequest(method, u.String(), body)
	if err != nil {
		return nil, nil, err
	}
	if err := authorize(r, a.Token); err != nil {
		return nil, nil, err
	}
	answer, err := ask(ctx, a.Client, r)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := bounded(answer.Body)
	return text, answer.Header, err
}

// readLeaders reads an answer of /v1/health/service. An epoch that cannot be read is of no bucket.
func readLeaders(text []byte) (all []leader, err error) {
	var entries []struct {
		Node struct {
			Node string
		}
		Service struct {
			ID   string
			Meta map[string]string
		}
		Checks []struct {
			Status string
		}
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("read the answer of Consul: %w", err)
	}
	for _, e := range entries {
		l := leader{
			node: e.Node.Node, id: e.Service.ID, role: e.Service.Meta[metaRole], bucket: e.Service.Meta[metaBucket],
			passing: true,
		}
		if l.epoch, err = strconv.ParseUint(e.Service.Meta[metaEpoch], 10, 64); err != nil {
			l.bucket = ""
		}
		for _, c := range e.Checks {
			l.passing = l.passing && c.Status == "passing"
		}
		all = append(all, l)
	}
	return all, nil
}

package discovery

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/electiontest"
)

// rights are what the token of a leader needs.
const rights = `service "scheduler" { policy = "write" } node_prefix "" { policy = "read" }`

// announcers are processes that announce their leader with the rights of one token.
type announcers struct {
	*agents
	secret string
}

func (a announcers) leader(node int) ConsulLeader {
	return ConsulLeader{
		Service: "scheduler", Port: 8080, Agent: a.http[node-1], TTL: time.Second, OnError: func(error) {}, bucket: "one",
		Token: func() (string, error) { return a.secret, nil },
	}
}

func (a announcers) is(node string) {
	a.t.Helper()
	eventually(a.t, "announced is "+node, func() bool { return a.announced() == node })
}

// forget takes everything from the agent of node-2, as when it has lost its state.
func (a announcers) forget() {
	all, _, err := a.instances(a.t.Context(), 0)
	if err != nil {
		a.t.Fatal(err)
	}
	for _, l := range all {
		a.must(1, http.MethodPut, "agent/service/deregister/"+l.id, nil)
	}
}

func (a announcers) left() int {
	var all []any
	if err := a.call(a.master, 0, http.MethodGet, "health/service/scheduler?consistent", nil, &all); err != nil {
		a.t.Fatal(err)
	}
	return len(all)
}

// cut is a path to an agent, on which a process can lose its voice.
func (a announcers) cut(node int) (address string, silent *atomic.Bool) {
	silent = &atomic.Bool{}
	proxy := httputil.NewSingleHostReverseProxy(&url.URL{Scheme: "http", Host: a.http[node-1]})
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if silent.Load() {
			panic(http.ErrAbortHandler)
		}
		proxy.ServeHTTP(w, r)
	}))
	a.t.Cleanup(s.Close)
	return s.URL, silent
}

// TestRealConsulLeader: a role that is handed over, a process that dies, an agent that dies with
// it, one that has forgotten what it was told, a registration that arrives late, and a token
// without rights, on a real Consul that demands tokens.
//
//	ROLEMANAGER_CONSUL=/usr/bin/consul go test ./discovery -run TestRealConsul -v
func TestRealConsulLeader(t *testing.T) {
	a := realConsul(t)
	c := announcers{a, a.token(rights)}
	w := a.watch()
	contend(t, c)
	if n, two, earlier := w.faults(); n < 3 || two+earlier > 0 {
		t.Errorf("of %d versions %d name two leaders, and %d an earlier one", n, two, earlier)
	}

	w = a.watch() // the terms of a test begin with low epochs
	l := c.leader(1)
	var silent *atomic.Bool
	l.Agent, silent = c.cut(1)
	end, over := lead(t, l)
	c.is("node-1")
	silent.Store(true) // the process dies
	end(election.ErrSessionLost)
	<-over
	begun := time.Now()
	end, over = lead(t, c.leader(2))
	c.is("node-2")
	t.Logf("a dead process: the next leader is announced after %v", time.Since(begun).Round(time.Millisecond))
	end(election.ErrClosed)
	<-over
	c.is("")

	end, over = lead(t, c.leader(2))
	c.is("node-2")
	a.kill(1) // the whole host
	end(election.ErrSessionLost)
	<-over
	begun = time.Now()
	l = c.leader(1)
	l.TTL = time.Hour
	lead(t, l)
	c.is("node-1")
	t.Logf("a dead host: the next leader is announced after %v", time.Since(begun).Round(time.Millisecond))
	a.start(1)
	if n, two, earlier := w.faults(); n < 3 || two+earlier > 0 {
		t.Errorf("of %d versions %d name two leaders, and %d an earlier one", n, two, earlier)
	}

	if err := a.call(c.secret, 1, http.MethodPut, "agent/service/register", map[string]any{ // it arrives late
		"ID": "late", "Name": "scheduler", "Port": 8080, "Check": map[string]string{"TTL": "1h", "Status": "passing"},
		"Meta": map[string]string{metaRole: "scheduler", metaBucket: "one", metaEpoch: "0"},
	}, nil); err != nil {
		t.Fatal(err)
	}
	begun = time.Now()
	a.eventually("the late one has come and gone", func() error {
		all, _, err := a.instances(t.Context(), 0)
		if err == nil && (!w.came("late") || len(all) != 1 || all[0].node != "node-1") {
			err = fmt.Errorf("it came: %v, now %v", w.came("late"), all)
		}
		return err
	})
	t.Logf("a late registration: it is gone after %v", time.Since(begun).Round(time.Millisecond))
}

// TestRealConsulForbids: what keeps a leader from being announced is told with its fix.
func TestRealConsulForbids(t *testing.T) {
	a := realConsul(t)
	c := announcers{a, a.token(`node_prefix "" { policy = "read" }`)}
	told := make(chan error, 1)
	l := c.leader(1)
	l.OnError = func(err error) {
		select {
		case told <- err:
		default:
		}
	}
	ctx, term, end := electiontest.NewTerm(t, "scheduler")
	if err := l.Lead(func(context.Context, *election.Term) error {
		if err := <-told; !errors.As(err, new(*ResponseError)) || !strings.Contains(err.Error(), "give a token") {
			t.Error(err)
		}
		end(election.ErrClosed)
		return nil
	})(ctx, term); err != nil {
		t.Error(err)
	}
}

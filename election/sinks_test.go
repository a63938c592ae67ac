package election_test

import (
	"bytes"
	"context"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestSinkThatPanics: the process lives, the next sink misses nothing, and the panic is reported,
// but not each time.
func TestSinkThatPanics(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var before, behind recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&before, event.SinkFunc(func(e event.Event) {
			switch e.(type) {
			case event.Heartbeat:
				panic("no heart")
			case event.RolePromoted:
				runtime.Goexit()
			}
		}), &behind}
		session := open(t, s, cfg)
		_, term := lead(t, session, election.RoleConfig{Role: "r"})
		time.Sleep(25 * time.Second)
		if !term.Valid() {
			t.Error("the term has ended")
		}
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if !slices.EqualFunc(before.all(), behind.all(),
			func(a, b event.Event) bool { return event.MetaOf(a) == event.MetaOf(b) }) {
			t.Errorf("one sink has %d events, the one behind the panicking one %d", len(before.all()), len(behind.all()))
		}
		if n := len(ofType[event.Heartbeat](&behind)); n < 100 {
			t.Errorf("%d heartbeats", n)
		}
		all := ofType[event.CallbackPanicked](&behind)
		if n := len(all); n < 3 || n > 4 {
			t.Errorf("%d reports in 25 s", n)
		}
		for _, p := range all {
			if p.Callback != "Sink" || p.Bucket != bucket || len(p.Stack) == 0 {
				t.Errorf("%+v", p)
			}
		}
	})
}

// TestOnlySinkPanics: when nobody is left to be told of the panic, the program's log has it.
func TestOnlySinkPanics(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var log bytes.Buffer
		defer slog.SetDefault(slog.Default())
		slog.SetDefault(slog.New(slog.NewTextHandler(&log, nil)))
		cfg := instance("a")
		cfg.Sinks = []event.Sink{event.SinkFunc(func(event.Event) { panic("every time") })}
		session := open(t, s, cfg)
		time.Sleep(5 * time.Second)
		if err := session.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if n := strings.Count(log.String(), `msg="a sink of events panicked" sink=event.SinkFunc panic="every time"`); n < 1 || n > 9 {
			t.Errorf("%d lines:\n%s", n, log.String())
		}
	})
}

// TestHealthCheckThatPanics is reported once for several in a row.
func TestHealthCheckThatPanics(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		var sink recorder
		cfg := instance("a")
		cfg.Sinks = []event.Sink{&sink}
		p := campaign(t, open(t, s, cfg), election.RoleConfig{
			Role: "r", Health: election.HealthCheckFunc(func(context.Context) bool { panic("ill") }),
		})
		time.Sleep(10 * time.Second)
		if p.IsLeader() {
			t.Error("it leads")
		}
		all := ofType[event.CallbackPanicked](&sink)
		if len(all) != 1 || all[0].Callback != "Health" || all[0].Role != "r" || all[0].Value != "ill" {
			t.Errorf("%d reports: %+v", len(all), all)
		}
	})
}

package assign_test

import (
	"bytes"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// TestASchedulerThatTheServerDoesNotEcho: the server does not send the scheduler's process what
// that has sent itself, and the client does not know it, as behind a proxy. (With nats.NoEcho the
// connection is refused.) Its own worker needs no server to be reached: it runs tasks and cancels
// them, alone and beside another one.
func TestASchedulerThatTheServerDoesNotEcho(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		unheard := with{s, []nats.Option{nats.SetCustomDialer(echoless{s})}}
		scheduler := newNode(t, unheard, "a", b.register(t, "a"))
		leader(t, scheduler)
		c := New(t, s)
		schedules(t, c)
		held := submitSlow(t, c, 2)
		natstest.Eventually(t, "both run", time.Minute, func() (bool, string) { return b.by("a") == 2, scheduler.dump() })
		if err := held[0].Cancel(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := held[0].Wait(within(t, time.Minute)); !errors.Is(err, assign.ErrTaskCancelled) {
			t.Errorf("the one that is cancelled: %v", err)
		}
		close(b.gate)
		newNode(t, s, "b", b.register(t, "b"), follower)
		natstest.Eventually(t, "both workers have run tasks", time.Minute, func() (bool, string) {
			for range 8 {
				p, err := assign.Submit(t.Context(), c, slow, "x")
				if err != nil {
					t.Fatal(err)
				}
				held = append(held, p)
			}
			return b.by("b") > 0 && b.by("a") > 2, ""
		})
		for _, p := range held[1:] {
			if _, err := p.Wait(within(t, time.Minute)); err != nil {
				t.Errorf("%s: %v", p.ID(), err)
			}
		}
		if n := scheduler.count(func(e event.Event) bool {
			f, is := e.(event.Fault)
			_, lost := e.(event.SessionLost)
			_, demoted := e.(event.RoleDemoted)
			return lost || demoted || is && errors.Is(f.Err, assign.ErrUnreachable)
		}); n > 0 {
			t.Errorf("%d faults of the scheduler: %s", n, scheduler.dump())
		}
	})
}

// echoless dials connections to which the server does not send what came over them.
type echoless struct{ nats.CustomDialer }

func (d echoless) Dial(network, address string) (net.Conn, error) {
	c, err := d.CustomDialer.Dial(network, address)
	return withoutEcho{c}, err
}

type withoutEcho struct{ net.Conn }

func (c withoutEcho) Write(p []byte) (int, error) {
	changed := bytes.Replace(p, []byte(`"echo":true`), []byte(`"echo":false`), 1)
	if len(changed) == len(p) {
		return c.Conn.Write(p)
	}
	_, err := c.Conn.Write(changed)
	return len(p), err
}

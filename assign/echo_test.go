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

// TestASchedulerThatCannotReachItself: the server does not send the scheduler's process what that
// has sent itself, and the client does not know it, as behind a proxy. (With nats.NoEcho the
// connection is refused.) Its own worker is one that messages do not reach: others get the tasks,
// it is named, and the term continues. Alone it hands out nothing, and says why.
func TestASchedulerThatCannotReachItself(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		settled(t)
		b := newBench()
		close(b.gate)
		unheard := with{s, []nats.Option{nats.SetCustomDialer(echoless{s})}}
		scheduler := newNode(t, unheard, "a", b.register(t, "a"))
		leader(t, scheduler)
		c := New(t, s)
		schedules(t, c)
		alone := submitSlow(t, c, 4)
		overview(t, c, "it says why nothing is handed out", func(o assign.Overview) bool {
			for _, k := range o.Kinds {
				if k.Reasons[assign.ReasonUnreachable] == len(alone) {
					return len(o.Workers) == 1 && o.Workers[0].Unreachable && o.Workers[0].Load == 0
				}
			}
			return false
		})
		time.Sleep(4 * testTTL)
		if n := scheduler.count(func(e event.Event) bool {
			f, is := e.(event.Fault)
			return is && errors.Is(f.Err, assign.ErrUnreachable) && f.Doing == "reach worker a"
		}); n == 0 {
			t.Error("it is not named")
		}
		newNode(t, s, "b", b.register(t, "b"), follower)
		for _, p := range alone {
			if _, err := p.Wait(within(t, time.Minute)); err != nil {
				t.Errorf("%s: %v", p.ID(), err)
			}
		}
		if b.by("a") > 0 {
			t.Errorf("%d started on the one that is not reached", b.by("a"))
		}
		if n := scheduler.count(func(e event.Event) bool {
			_, lost := e.(event.SessionLost)
			_, demoted := e.(event.RoleDemoted)
			return lost || demoted
		}); n > 0 {
			t.Errorf("its term or its session has ended: %d", n)
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

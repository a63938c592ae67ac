package assign_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/bridge"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// runOne has one task run, and fails if it does not.
func runOne(t *testing.T, c *assign.Client, input int, nodes ...*node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute) // virtual
	defer cancel()
	p, err := assign.Submit(ctx, c, double, input)
	if err != nil {
		t.Fatal(err)
	}
	if out, err := p.Wait(ctx); out != 2*input || err != nil {
		for _, n := range nodes {
			t.Log(n.dump())
		}
		t.Fatalf("task %d: %d, %v", input, out, err)
	}
}

// TestFewSignatures: the first assignments to a session are signed. The next ones are proven by the
// key that the scheduler and the worker then share, also after one that did not arrive. Another
// scheduler and another session begin with signatures again.
func TestFewSignatures(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		spy := natstest.Connect(t, s)
		frames, err := spy.SubscribeSync(said + ".work.assign.w")
		if err != nil {
			t.Fatal(err)
		}
		if err := spy.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		// proofs has tasks run, and says of each whether its frame was signed by the node that
		// leads.
		proofs := func(by *node, n int) string {
			t.Helper()
			key := bridge.LeaseOf(hostOf(t, by)).(interface{ Signer() *fencing.Signer }).Signer().PublicKey()
			verifier, err := fencing.NewVerifier(key)
			if err != nil {
				t.Fatal(err)
			}
			var of strings.Builder
			for i := range n {
				runOne(t, c, i, by, w)
				m, err := frames.NextMsg(time.Second)
				if err != nil {
					t.Fatal(err)
				}
				raw, proof, err := frame.Open(m.Data)
				if err != nil {
					t.Fatal(err)
				}
				v, _, _, err := frame.DecodeAssign(raw)
				switch signed := verifier.Verify(raw, proof) == nil; {
				case err != nil:
					t.Fatal(err)
				case signed && v.Key != "":
					of.WriteString("s")
				case !signed && v.Key == "":
					of.WriteString("-")
				default:
					t.Fatalf("signed: %t, with the key %q", signed, v.Key)
				}
			}
			return of.String()
		}
		if got := proofs(a, 4); got != "ss--" {
			t.Errorf("signed: %s", got)
		}
		w.link.CutOneWay(natsrun.ToClient)
		p, err := assign.Submit(t.Context(), c, double, 9)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(100 * time.Millisecond) // virtual
		w.link.Heal()
		if err := w.nc.ForceReconnect(); err != nil {
			t.Fatal(err)
		}
		if _, err := p.Wait(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second) // no copy of that frame is under way
		for err == nil {
			_, err = frames.NextMsg(time.Millisecond)
		}
		if got := proofs(a, 3); got != "---" {
			t.Errorf("signed after a frame that did not arrive: %s", got)
		}
		b := newNode(t, s, "b", nil)
		a.close(t)
		leader(t, b)
		if got := proofs(b, 4); got != "ss--" {
			t.Errorf("signed by another scheduler: %s", got)
		}
		w.close(t)
		w = newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		if got := proofs(b, 3); got != "ss-" {
			t.Errorf("signed for another session: %s", got)
		}
		if n := w.count(isRejected("signature")) + b.count(isRejected("signature")); n > 0 {
			t.Errorf("%d refused", n)
		}
	})
}

// TestFalseKeys: somebody answers each frame in the worker's name, sooner than the worker, with a
// key of his own. Then the scheduler signs its frames, says so, and all tasks run.
func TestFalseKeys(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := newNode(t, s, "a", nil)
		leader(t, a)
		w := newNode(t, s, "w", doubling(t, "w", newTally()), workerOnly)
		liar := natstest.Connect(t, s)
		key := strings.Repeat("k", frame.KeySize) // each such text is the key of somebody (RFC 7748, 5)
		_, err := liar.Subscribe(said+".work.assign.w", func(m *nats.Msg) {
			raw, _, err := frame.Open(m.Data)
			if err != nil {
				t.Error(err)
				return
			}
			v, _, _, err := frame.DecodeAssign(raw)
			if err != nil {
				t.Error(err)
				return
			}
			if err := liar.Publish(m.Reply, frame.EncodeAnswers(v.Session, v.Number, nil, key)); err != nil {
				t.Error(err)
			}
		})
		if err != nil {
			t.Fatal(err)
		}
		if err := liar.Flush(); err != nil {
			t.Fatal(err)
		}
		c := New(t, s)
		for i := range 10 {
			runOne(t, c, i, a, w)
		}
		if n := a.count(isRejected("signature")); n != 1 {
			t.Errorf("it is said %d times that somebody answers in the worker's name", n)
		}
		if n := w.count(isRejected("signature")); n > 1 {
			t.Errorf("the worker has refused %d frames", n)
		}
	})
}

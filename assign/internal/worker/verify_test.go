package worker

import (
	"crypto/rand"
	"testing"

	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/fencing"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks"
	"github.com/rolemanager/rolemanager/internal/protocol/tasks/frame"
)

// TestFramesInMemory: a frame without a signature is taken if it has not left the process, and our
// own session leads at its epoch. All else is checked as in any other frame.
func TestFramesInMemory(t *testing.T) {
	leader, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	good := frame.Envelope{Namespace: "ns", Role: "r", Epoch: 10, Term: 10, Instance: "w", Session: 5}
	late, early, other, former := good, good, good, good
	late.Epoch, late.Term, early.Epoch, other.Namespace, former.Session = 9, 9, 11, "other", 4
	for _, c := range []struct {
		name     string
		envelope frame.Envelope
		own      *fencing.Signer
		inMemory bool
		want     tasks.Verdict
	}{
		{"in memory", good, leader, true, tasks.Accepted},
		{"over the server", good, leader, false, tasks.Forged},
		{"in memory, while another session leads", good, stranger, true, tasks.Forged},
		{"of a former epoch", late, leader, true, tasks.StaleEpoch},
		{"of an epoch that is not in view", early, leader, true, frame.Later},
		{"of another namespace", other, leader, true, tasks.Foreign},
		{"for a former session", former, leader, true, tasks.Foreign},
	} {
		g := frameVerifier{namespace: "ns", role: "r", instance: "w", session: 5, open: true, own: c.own}
		g.see(election.RoleInfo{Leader: "w", Epoch: 10, Revision: 10, PublicKey: leader.PublicKey()})
		data := frame.Seal(frame.EncodeSync(&c.envelope), frame.Unproven)
		if _, _, got := g.check(arrivedFrame{&nats.Msg{Data: data}, c.inMemory}, 1000); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestSharedKeys: after signed frames the worker believes those under the key that it shares with
// the scheduler in its view, and no others.
func TestSharedKeys(t *testing.T) {
	leader, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	next, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	worker := func() *frameVerifier {
		g := &frameVerifier{
			namespace: "ns", role: "r", instance: "w", session: 5, open: true, own: next,
			shared: frame.NewBeliever(frame.NewKeyPair(rand.Read)),
		}
		g.see(election.RoleInfo{Leader: "a", Epoch: 10, Revision: 10, PublicKey: leader.PublicKey()})
		return g
	}
	g, other := worker(), worker()
	prover := frame.NewProver(frame.NewKeyPair(rand.Read), leader.Sign)
	number := uint64(0)
	send := func(g *frameVerifier, epoch uint64) (tasks.Verdict, *frame.Envelope) {
		number++
		v := frame.Envelope{
			Namespace: "ns", Role: "r", Epoch: epoch, Term: 10, Instance: "w", Session: 5, Number: number,
		}
		prover.Address(&v)
		sealed := prover.Seal(&v, frame.EncodeSync(&v))
		_, _, verdict := g.check(arrivedFrame{m: &nats.Msg{Data: sealed}}, 1000)
		return verdict, &v
	}
	for range 2 {
		verdict, v := send(g, 10)
		if verdict != tasks.Accepted || v.Key == "" {
			t.Fatalf("a first frame: %v, key %q", verdict, v.Key)
		}
		prover.Answered(5, v.Number, g.shared.Believed(v))
	}
	if verdict, v := send(other, 10); verdict != tasks.Forged || v.Key != "" {
		t.Errorf("at a worker that does not share the key: %v, key %q", verdict, v.Key)
	}
	prover.Answered(5, number, "")
	if verdict, v := send(g, 10); verdict != tasks.Accepted || v.Key != "" {
		t.Errorf("the next frame: %v, key %q", verdict, v.Key)
	}
	prover.Answered(5, number, "")
	if verdict, _ := send(g, 11); verdict != frame.Later {
		t.Errorf("a later epoch: %v", verdict)
	}
	prover.Answered(5, number, "")
	g.see(election.RoleInfo{Leader: "b", Epoch: 12, Revision: 12, PublicKey: next.PublicKey()})
	if verdict, v := send(g, 12); verdict != tasks.Forged || v.Key != "" {
		t.Errorf("the former scheduler, under the epoch of the next: %v, key %q", verdict, v.Key)
	}
}

// TestGate checks each reason, and that the first one in order counts.
func TestGate(t *testing.T) {
	leader, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := fencing.NewSigner()
	if err != nil {
		t.Fatal(err)
	}
	info := election.RoleInfo{Leader: "a", Epoch: 10, Revision: 10, PublicKey: leader.PublicKey()}
	good := frame.Envelope{Namespace: "ns", Role: "r", Epoch: 10, Term: 10, Instance: "w", Session: 5}
	seal := func(edit func(*frame.Envelope), by *fencing.Signer) []byte {
		v := good
		edit(&v)
		return frame.Seal(frame.EncodeSync(&v), by.Sign)
	}
	same := func(*frame.Envelope) {}
	for _, tt := range []struct {
		name   string
		data   []byte
		change func(*frameVerifier)
		want   tasks.Verdict
	}{
		{"good", seal(same, leader), nil, tasks.Accepted},
		{"too large", make([]byte, 2000), nil, tasks.TooLarge},
		{"stale and forged: stale", seal(func(v *frame.Envelope) { v.Epoch = 9 }, stranger), nil, tasks.StaleEpoch},
		{
			"a later epoch is not believed, even well signed", seal(func(v *frame.Envelope) { v.Epoch = 11 }, leader), nil,
			frame.Later,
		},
		{"forged and foreign: forged", seal(func(v *frame.Envelope) { v.Session = 6 }, stranger), nil, tasks.Forged},
		{"another session", seal(func(v *frame.Envelope) { v.Session = 6 }, leader), nil, tasks.Foreign},
		{"another instance", seal(func(v *frame.Envelope) { v.Instance = "x" }, leader), nil, tasks.Foreign},
		{"another namespace", seal(func(v *frame.Envelope) { v.Namespace = "x" }, leader), nil, tasks.Foreign},
		{"another role", seal(func(v *frame.Envelope) { v.Role = "x" }, leader), nil, tasks.Foreign},
		{"our own record is not in view", seal(same, leader), func(g *frameVerifier) { g.open = false }, tasks.NotReady},
		{"nobody leads any more", seal(same, leader), func(g *frameVerifier) {
			g.see(election.RoleInfo{Vacant: true, Revision: 12})
		}, tasks.StaleEpoch},
		{
			"nobody leads, and that is not an epoch", seal(func(v *frame.Envelope) { v.Epoch, v.Term = 0, 0 }, leader),
			func(g *frameVerifier) {
				g.see(election.RoleInfo{Vacant: true, Revision: 12})
			}, tasks.StaleEpoch,
		},
		{"signatures are not checked", seal(same, stranger), func(g *frameVerifier) { g.trusting = true }, tasks.Accepted},
		{
			"signatures are not checked, the rest is", seal(func(v *frame.Envelope) { v.Session = 6 }, stranger),
			func(g *frameVerifier) { g.trusting = true }, tasks.Foreign,
		},
		{"a term that begins after its epoch", seal(func(v *frame.Envelope) { v.Term = 11 }, leader), nil, tasks.StaleEpoch},
		{"the view went back", seal(same, leader), func(g *frameVerifier) {
			g.see(election.RoleInfo{Leader: "b", Epoch: 12, Revision: 12, PublicKey: stranger.PublicKey()})
			g.see(info)
		}, tasks.StaleEpoch},
	} {
		for signer, own := range map[string]*fencing.Signer{"another's": stranger, "our own": leader} {
			g := frameVerifier{namespace: "ns", role: "r", instance: "w", session: 5, open: true, own: own}
			g.see(info)
			if tt.change != nil {
				tt.change(&g)
			}
			if _, _, got := g.check(arrivedFrame{m: &nats.Msg{Data: tt.data}}, 1000); got != tt.want {
				t.Errorf("%s, the session that leads being %s: %v, want %v", tt.name, signer, got, tt.want)
			}
		}
	}
}

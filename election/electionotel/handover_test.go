package electionotel_test

import (
	"context"
	"fmt"
	"os"
	"slices"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/election/electionotel"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

func TestMain(m *testing.M) {
	if name := os.Getenv(asProcess); name != "" {
		if err := beProcess(name, os.Getenv(asServer)); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	natstest.Main(m)
}

// process is a manager with a provider of its own, as a process has them.
type process struct {
	t        *testing.T
	id       string
	exporter *tracetest.InMemoryExporter
	link     *natsrun.Link
	shutdown func()
	*roles.Manager
}

func start(t *testing.T, s *natsrun.Server, id string, roots bool, edit func(*roles.Config),
	all ...roles.Role,
) *process {
	t.Helper()
	p := &process{t: t, id: id, exporter: tracetest.NewInMemoryExporter(), link: s.Link()}
	opts := []sdk.TracerProviderOption{sdk.WithSyncer(p.exporter)}
	if roots {
		opts = append(opts, sdk.WithIDGenerator(electionotel.NewIDGenerator()))
	}
	provider := sdk.NewTracerProvider(opts...)
	cfg := roles.Config{
		URL: s.URL(), NATSOptions: append([]nats.Option{nats.SetCustomDialer(s)}, p.link.Options()...),
		Bucket: "roles", BucketAutoCreate: true, InstanceID: id, TTL: 2 * time.Second, DrainTimeout: 3 * time.Second,
		Sinks: []event.Sink{electionotel.NewSink(electionotel.WithTracerProvider(provider))},
	}
	if edit != nil {
		edit(&cfg)
	}
	m, err := roles.New(cfg, all...)
	if err != nil {
		t.Fatal(err)
	}
	p.Manager = m
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- m.Run(ctx) }()
	stopped := false
	p.shutdown = func() {
		if stopped {
			return
		}
		stopped = true
		cancel()
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", id, err)
		}
	}
	t.Cleanup(p.shutdown)
	return p
}

// billing is a role whose work takes so long to return, in its first term.
func billing(drains time.Duration) roles.Role {
	return roles.Role{Name: "billing", Lead: func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		time.Sleep(drains)
		drains = 0 // terms of a role are one after the other
		return nil
	}}
}

// spans are those that the process has written, by name. A name twice is an error.
func (p *process) spans() map[string]tracetest.SpanStub {
	p.t.Helper()
	natstest.Settle(p.t)
	all := map[string]tracetest.SpanStub{}
	for _, s := range p.exporter.GetSpans() {
		if _, twice := all[s.Name]; twice {
			p.t.Errorf("%s has written %q twice", p.id, s.Name)
		}
		all[s.Name] = s
	}
	return all
}

// has fails the test unless these are the spans that the process has written.
func (p *process) has(names ...string) map[string]tracetest.SpanStub {
	p.t.Helper()
	all := p.spans()
	for _, n := range names {
		if _, ok := all[n]; !ok {
			p.t.Fatalf("%s has not written %q: it has %v", p.id, n, all)
		}
	}
	if len(all) != len(names) {
		p.t.Fatalf("%s has written %v, want %v", p.id, all, names)
	}
	return all
}

func value(t *testing.T, s tracetest.SpanStub, key attribute.Key) string {
	t.Helper()
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value.String()
		}
	}
	return ""
}

func events(s tracetest.SpanStub) (names []string) {
	for _, e := range s.Events {
		names = append(names, e.Name)
	}
	return names
}

// together fails the test unless the spans are one trace, below one root, and in this order.
func together(t *testing.T, spans ...tracetest.SpanStub) {
	t.Helper()
	first := spans[0]
	for i, s := range spans {
		if s.SpanContext.TraceID() != first.SpanContext.TraceID() || s.Parent.SpanID() != first.Parent.SpanID() ||
			!s.Parent.IsRemote() {
			t.Errorf("%q: trace %s below %s; %q: trace %s below %s", first.Name, first.SpanContext.TraceID(),
				first.Parent.SpanID(), s.Name, s.SpanContext.TraceID(), s.Parent.SpanID())
		}
		if s.EndTime.Before(s.StartTime) || i > 0 && s.EndTime.Before(spans[i-1].EndTime) {
			t.Errorf("%q: %v to %v", s.Name, s.StartTime, s.EndTime)
		}
	}
}

// TestHandOver: the spans of two processes are one trace, whether the ids can be chosen or not,
// after rotations too; and a first leader is not a hand-over.
func TestHandOver(t *testing.T) {
	for _, roots := range []bool{false, true} {
		natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
			often := func(c *roles.Config) { c.RotationInterval = 10 * time.Second }
			a := start(t, s, "a", roots, often, billing(time.Second))
			time.Sleep(time.Minute)
			b := start(t, s, "b", roots, often, billing(0))
			time.Sleep(time.Minute)
			a.has()
			b.has()

			a.shutdown() // as at a deploy
			time.Sleep(10 * time.Second)
			claim := b.has("claim billing")["claim billing"]
			names := []string{"drain billing", "vacate billing"}
			if roots {
				names = append(names, "hand over billing")
			}
			all := a.has(names...)
			drain, vacate := all["drain billing"], all["vacate billing"]
			together(t, drain, vacate, claim)
			if took := drain.EndTime.Sub(drain.StartTime); took < time.Second || took > 2*time.Second {
				t.Errorf("it drained for %v", took)
			}
			if !vacate.StartTime.Equal(drain.EndTime) || claim.StartTime.Before(drain.EndTime.Add(-time.Microsecond)) {
				t.Errorf("drained at %v, vacate from %v, claim from %v", drain.EndTime, vacate.StartTime, claim.StartTime)
			}
			if root, ok := all["hand over billing"]; ok && (root.Parent.IsValid() ||
				root.SpanContext.TraceID() != claim.SpanContext.TraceID() ||
				root.SpanContext.SpanID() != claim.Parent.SpanID() || !root.StartTime.Equal(drain.StartTime)) {
				t.Errorf("the root is %+v of %+v, the claim's parent is %+v", root.SpanContext, root.Parent, claim.Parent)
			}
			if value(t, claim, electionotel.AttributeFrom) != "a" || value(t, claim, electionotel.AttributeTo) != "b" ||
				value(t, claim, electionotel.AttributeEpoch) != value(t, drain, electionotel.AttributeEpoch) ||
				value(t, claim, electionotel.AttributeReason) != value(t, drain, electionotel.AttributeReason) ||
				value(t, drain, electionotel.AttributeReason) == "" {
				t.Errorf("claim %v, drain %v", claim.Attributes, drain.Attributes)
			}
			if !slices.Contains(events(claim), "vacant") { // the others may be told after the promotion
				t.Errorf("events of the claim: %v", events(claim))
			}
		})
	}
}

// TestCrash: the successor of a process that is cut off writes its claim, and the former leader,
// which lives on, writes its part to the same trace.
func TestCrash(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		a := start(t, s, "a", true, nil, billing(time.Second))
		time.Sleep(5 * time.Second)
		b := start(t, s, "b", true, nil, billing(0))
		time.Sleep(5 * time.Second)
		a.link.Cut()
		time.Sleep(20 * time.Second)
		next := b.has("claim billing", "take over billing")
		claim, root := next["claim billing"], next["take over billing"]
		if !slices.Contains(events(claim), "member left") {
			t.Errorf("events of the claim: %v", events(claim))
		}
		all := a.has("drain billing", "lose session")
		drain, loss := all["drain billing"], all["lose session"]
		together(t, claim, drain)
		if root.Parent.IsValid() || root.SpanContext.TraceID() != claim.SpanContext.TraceID() ||
			root.SpanContext.SpanID() != claim.Parent.SpanID() {
			t.Errorf("the root is %+v of %+v, the claim's parent is %+v", root.SpanContext, root.Parent, claim.Parent)
		}
		if loss.Status.Code != codes.Error || len(loss.Links) != 1 ||
			loss.Links[0].SpanContext.TraceID() != claim.SpanContext.TraceID() ||
			loss.SpanContext.TraceID() == claim.SpanContext.TraceID() {
			t.Errorf("%+v", loss)
		}
		if gap := claim.EndTime.Sub(claim.StartTime); gap < time.Second || gap > 10*time.Second {
			t.Errorf("the claim took %v", gap)
		}
		a.link.Heal()
		time.Sleep(5 * time.Second)
	})
}

// TestStuck: work that does not return is seen before it does.
func TestStuck(t *testing.T) {
	natstest.Bubble(t, func(t *testing.T, s *natsrun.Server) {
		t.Cleanup(func() { time.Sleep(time.Minute) }) // nothing is left behind by a failure either
		a := start(t, s, "a", false, nil, billing(30*time.Second))
		time.Sleep(5 * time.Second)
		b := start(t, s, "b", false, nil, billing(0))
		time.Sleep(5 * time.Second)
		stepped := make(chan error, 1)
		go func() { stepped <- a.StepDown(t.Context(), "billing") }()
		time.Sleep(10 * time.Second)
		stuck := a.has("stuck billing")["stuck billing"]
		if stuck.Status.Code != codes.Error {
			t.Errorf("%+v", stuck.Status)
		}
		if err := <-stepped; err != nil {
			t.Error(err)
		}
		time.Sleep(5 * time.Second)
		all := a.has("stuck billing", "drain billing", "vacate billing")
		together(t, stuck, all["drain billing"], all["vacate billing"], b.has("claim billing")["claim billing"])
	})
}

// TestRolesOfOthers: what a session sees of roles that it takes no part in makes no span. Neither
// does a first term, and one whose former leader nobody has seen is a trace of its own.
func TestRolesOfOthers(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	sink := electionotel.NewSink(electionotel.WithTracerProvider(sdk.NewTracerProvider(sdk.WithSyncer(exporter))))
	meta := event.Meta{Time: time.Now(), Bucket: "roles", Instance: "a", Session: 7}
	for i := range 100 {
		role := fmt.Sprint("other-", i)
		sink.Observe(event.LeaderChanged{Meta: meta, Role: role, Leader: "b", Epoch: 40})
		sink.Observe(event.RoleVacant{Meta: meta, Role: role, By: "b", Epoch: 40})
		sink.Observe(event.ClaimAttempted{Meta: meta, Role: role, Outcome: event.OutcomeRefused})
		sink.Observe(event.RolePromoted{Meta: meta, Role: role, Epoch: 50})
	}
	if n := len(exporter.GetSpans()); n != 0 {
		t.Errorf("%d spans", n)
	}
	sink.Observe(event.SessionClosed{Meta: meta})
	for _, role := range []string{"x", "y"} {
		sink.Observe(event.RolePromoted{Meta: meta, Role: role, Epoch: 60, Gap: time.Second})
	}
	all := exporter.GetSpans()
	if len(all) != 2 || all[0].SpanContext.TraceID() == all[1].SpanContext.TraceID() || all[0].Parent.IsValid() {
		t.Errorf("%+v", all)
	}
}

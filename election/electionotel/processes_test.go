package electionotel_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/election/electionotel"
	"github.com/rolemanager/rolemanager/event"
	"github.com/rolemanager/rolemanager/internal/natstest"
	"github.com/rolemanager/rolemanager/roles"
)

// asProcess makes this program a manager that writes its spans to its output: its value is the
// instance, and asServer the address of the server.
const (
	asProcess = "OTEL_PROCESS"
	asServer  = "OTEL_SERVER"
)

// line is what such a process writes: that it leads the role at this epoch, or a span.
type line struct {
	Leads                     uint64
	Pid                       int
	Span, Trace, ID, ParentID string
	Role                      string
	Start, End                int64 // nanoseconds of the clock that both processes have
}

// lines writes them, for a sink and an exporter of spans. The manager calls the one, and the
// provider of the spans the other: a line is one write.
type lines struct{ to io.Writer }

func (w lines) write(l line) {
	l.Pid = os.Getpid()
	text, err := json.Marshal(l)
	if err == nil {
		_, err = w.to.Write(append(text, '\n'))
	}
	if err != nil {
		panic(err) // the test misses the line otherwise
	}
}

func (w lines) ExportSpans(_ context.Context, all []sdk.ReadOnlySpan) error {
	for _, s := range all {
		set := attribute.NewSet(s.Attributes()...)
		role, _ := set.Value(electionotel.AttributeRole)
		w.write(line{
			Span: s.Name(), Trace: s.SpanContext().TraceID().String(), ID: s.SpanContext().SpanID().String(),
			ParentID: s.Parent().SpanID().String(), Role: role.AsString(),
			Start: s.StartTime().UnixNano(), End: s.EndTime().UnixNano(),
		})
	}
	return nil
}

func (lines) Shutdown(context.Context) error { return nil }

func (w lines) Observe(e event.Event) {
	if e, ok := e.(event.LeaderChanged); ok && e.Leader == e.Instance {
		w.write(line{Leads: e.Epoch})
	}
}

// beProcess runs a manager until its input ends, which is a clean stop.
func beProcess(instance, server string) error {
	out := lines{os.Stdout}
	provider := sdk.NewTracerProvider(sdk.WithSyncer(out), sdk.WithIDGenerator(electionotel.NewIDGenerator()))
	m, err := roles.New(roles.Config{
		URL: server, Bucket: "roles", BucketAutoCreate: true, InstanceID: instance, TTL: 2 * time.Second,
		Sinks: []event.Sink{electionotel.NewSink(electionotel.WithTracerProvider(provider)), out},
	}, roles.Role{Name: "billing", Lead: func(ctx context.Context, _ *election.Term) error {
		<-ctx.Done()
		time.Sleep(20 * time.Millisecond) // it has something to finish
		return nil
	}})
	if err != nil {
		return err
	}
	ctx, end := context.WithCancel(context.Background())
	go func() {
		_, _ = io.Copy(io.Discard, os.Stdin)
		end()
	}()
	if err := m.Run(ctx); err != nil {
		return err
	}
	return provider.Shutdown(context.Background())
}

// other is such a process.
type other struct {
	t     *testing.T
	name  string
	cmd   *exec.Cmd
	stdin io.WriteCloser
	out   *bufio.Scanner
	spans map[string]line
}

func spawn(t *testing.T, name, server string) *other {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), asProcess+"="+name, asServer+"="+server)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	limit := time.AfterFunc(time.Minute, func() { _ = cmd.Process.Kill() }) // its output ends, and with it the test
	t.Cleanup(func() {
		limit.Stop()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return &other{t, name, cmd, in, bufio.NewScanner(out), map[string]line{}}
}

// leads reads until the process has said that it leads, and keeps the spans.
func (o *other) leads() (epoch uint64) {
	o.t.Helper()
	if epoch = o.read(true); epoch == 0 {
		o.t.Fatalf("%s does not lead", o.name)
	}
	return epoch
}

// stop ends the process cleanly, and keeps the spans that it writes until then.
func (o *other) stop() {
	o.t.Helper()
	_ = o.stdin.Close()
	o.read(false)
	if err := o.cmd.Wait(); err != nil {
		o.t.Errorf("%s ends with %v", o.name, err)
	}
}

func (o *other) read(untilItLeads bool) (epoch uint64) {
	o.t.Helper()
	for o.out.Scan() {
		var l line
		if err := json.Unmarshal(o.out.Bytes(), &l); err != nil {
			o.t.Fatalf("%s: %v: %s", o.name, err, o.out.Bytes())
		}
		if l.Pid != o.cmd.Process.Pid {
			o.t.Errorf("%s is process %d, and a line is of %d", o.name, o.cmd.Process.Pid, l.Pid)
		}
		switch {
		case l.Span != "":
			o.spans[l.Span] = l
		case l.Leads > 0 && untilItLeads:
			return l.Leads
		}
	}
	return 0
}

// TestHandOverOfProcesses: the spans of a hand-over, which two processes of the system have written
// each for itself, are one trace below one root.
func TestHandOverOfProcesses(t *testing.T) {
	s := natstest.Server(t, natstest.Listen)
	a := spawn(t, "a", s.URL())
	epoch := a.leads()
	b := spawn(t, "b", s.URL())
	o, err := election.Observe(t.Context(), natstest.Connect(t, s), "roles")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	natstest.Eventually(t, "b is in line", time.Minute, func() (bool, string) {
		info, _ := o.Role("billing")
		return info.Successor == "b", fmt.Sprintf("%+v", info)
	})
	a.stop() // as at a deploy
	b.leads()
	b.stop()

	want := electionotel.TraceID("roles", "billing", epoch)
	root := a.spans["hand over billing"]
	bars := []bar{{root, "a"}}
	for _, w := range []struct {
		of   *other
		name string
	}{{a, "drain billing"}, {a, "vacate billing"}, {b, "claim billing"}} {
		got, ok := w.of.spans[w.name]
		if !ok || got.Trace != want.String() || got.ParentID != root.ID || got.Role != "billing" {
			t.Errorf("%s of %s is %+v; the trace is %s, and its root %+v", w.name, w.of.name, got, want, root)
		}
		bars = append(bars, bar{got, w.of.name})
	}
	if root.Trace != want.String() || root.ParentID != (trace.SpanID{}).String() {
		t.Errorf("the root is %+v; the trace is %s", root, want)
	}
	if a.cmd.Process.Pid == b.cmd.Process.Pid {
		t.Error("it is one process")
	}
	picture(t, bars)
}

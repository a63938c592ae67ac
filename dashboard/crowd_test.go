package dashboard

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// The crowd of BenchmarkCrowd.
const (
	crowdRoles   = 1000
	crowdMembers = 20
	crowdTasks   = 10_000
	crowdViewers = 100
	crowdRest    = 20 * time.Second // how long each state is measured
)

// BenchmarkCrowd: what a page about 1,000 roles, 20 members that take part in all of them and
// 10,000 open tasks costs, beside what an observer costs, with nobody, one and 100 who look at the
// first screen; and how long a change of a leader takes to all of them.
//
//	go test ./dashboard -run '^$' -bench Crowd -benchtime 1x
//
// Server, members, page and viewers are one process, so the processor time is that of all. The page
// adds the difference.
func BenchmarkCrowd(b *testing.B) {
	for b.Loop() {
		crowdOnce(b)
	}
	b.ReportMetric(0, "ns/op")
}

func crowdOnce(b *testing.B) {
	s := natstest.Server(b)
	nc := natstest.Connect(b, s)
	if _, err := natskv.Create(b.Context(), nc, natskv.Config{Bucket: "roles"}); err != nil {
		b.Fatal(err)
	}
	members := crowdSessions(b, s)
	jobs := crowdOfTasks(b, s)
	b.Logf("%d members take part in %d roles, and %d tasks are open", len(members), crowdRoles, crowdTasks)
	time.Sleep(crowdRest / 2) // until all is at rest
	crowdReport(b, s, "none")
	o, err := election.Observe(b.Context(), natstest.Connect(b, s), "roles", election.WithWorkers())
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	time.Sleep(time.Second)
	crowdReport(b, s, "observer")
	h, err := New(Options{Observer: o, Tasks: []*assign.Client{jobs}})
	if err != nil {
		b.Fatal(err)
	}
	web := httptest.NewServer(h)
	defer web.Close()
	defer h.Close()
	crowdReport(b, s, "page")
	began := time.Now()
	r, err := http.Get(web.URL + "/")
	if err != nil {
		b.Fatal(err)
	}
	first, err := io.ReadAll(r.Body)
	if err != nil {
		b.Fatal(err)
	}
	_ = r.Body.Close()
	b.ReportMetric(float64(len(first)), "first-bytes")
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "first-ms")
	began = time.Now()
	h.hub.draw(began)
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "picture-ms")
	began = time.Now()
	if _, _, err := h.render(b.Context(), "/"); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(time.Since(began).Microseconds())/1000, "screen-ms")
	var viewers sync.WaitGroup
	defer viewers.Wait()
	ctx, leave := context.WithCancel(b.Context())
	defer leave()
	role := crowdName(0)
	seen := &crowdSights{text: `"r:` + role + `"`}
	look := func(from, to int) {
		for i := from; i < to; i++ {
			viewers.Go(func() { crowdViewer(ctx, web.URL, i, seen) })
		}
		time.Sleep(2 * time.Second)
	}
	look(0, 1)
	crowdReport(b, s, "1-viewer")
	look(1, crowdViewers)
	crowdReport(b, s, fmt.Sprint(crowdViewers, "-viewers"))

	info, _ := o.Role(role)
	events := o.Events(ctx)
	if _, err := o.StepDown(b.Context(), role, info.Epoch); err != nil {
		b.Fatal(err)
	}
	for range events {
		if now, _ := o.Role(role); now.Leader != "" && now.Epoch > info.Epoch {
			at := time.Now()
			time.Sleep(2 * time.Second)
			last, n := seen.last(fmt.Sprint("epoch ", now.Epoch))
			b.ReportMetric(float64(last.Sub(at).Microseconds())/1000, "change-to-last-viewer-ms")
			if n != crowdViewers {
				b.Errorf("%d viewers were sent the change", n)
			}
			return
		}
	}
}

func crowdName(i int) string { return fmt.Sprintf("shop/region-%d/job-%03d", i%7, i) }

// crowdSessions opens the members, and waits until every role is led.
func crowdSessions(b *testing.B, s *natsrun.Server) (all []*election.Session) {
	var closing sync.WaitGroup
	b.Cleanup(closing.Wait)
	for i := range crowdMembers {
		session, err := election.NewSession(election.SessionConfig{
			Bucket: "roles", InstanceID: fmt.Sprintf("shop-%02d-7f9c", i),
		})
		if err != nil {
			b.Fatal(err)
		}
		for r := range crowdRoles {
			e, err := session.Campaign(election.RoleConfig{
				Role: crowdName(r), Lead: func(ctx context.Context, _ *election.Term) error { <-ctx.Done(); return nil },
			})
			if err != nil {
				b.Fatal(err)
			}
			if err := e.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
		}
		if err := session.Open(b.Context(), natstest.Connect(b, s)); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { closing.Go(func() { _ = session.Close(context.Background()) }) })
		all = append(all, session)
	}
	return all
}

// crowdOfTasks submits tasks that no worker handles, to a scheduler of a bucket of its own.
func crowdOfTasks(b *testing.B, s *natsrun.Server) *assign.Client {
	nc := natstest.Connect(b, s)
	session, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: "scheduler-1",
	})
	if err != nil {
		b.Fatal(err)
	}
	a, err := assign.New(session, assign.Config{Namespace: "jobs", Role: "jobs", StreamAutoCreate: true})
	if err != nil {
		b.Fatal(err)
	}
	name, lead := a.Role()
	e, err := session.Campaign(election.RoleConfig{Role: name, Lead: lead})
	if err != nil {
		b.Fatal(err)
	}
	if err := e.Start(b.Context()); err != nil {
		b.Fatal(err)
	}
	if err := session.Open(b.Context(), nc); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = session.Close(context.Background()) })
	c, err := assign.NewClient(nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(c.Close)
	inputs := make([]string, crowdTasks)
	for i := range inputs {
		inputs[i] = fmt.Sprintf("tenant-%03d", i%200)
	}
	k := assign.NewKind[string, string]("orphan", assign.FairBy(func(in string) string { return in }))
	if _, err := assign.SubmitBatch(b.Context(), c, k, inputs); err != nil {
		b.Fatal(err)
	}
	return c
}

// crowdReport measures a state at rest: messages of the server, and processor time.
func crowdReport(b *testing.B, s *natsrun.Server, what string) {
	read := func() (in, out int64, cpu time.Duration) {
		v, err := s.Running().Varz(nil)
		if err != nil {
			b.Fatal(err)
		}
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return v.InMsgs, v.OutMsgs, time.Duration(r.Utime.Nano() + r.Stime.Nano())
	}
	in, out, cpu := read()
	time.Sleep(crowdRest)
	moreIn, moreOut, moreCPU := read()
	seconds := crowdRest.Seconds()
	b.ReportMetric(float64(moreIn-in)/seconds, what+"-in/s")
	b.ReportMetric(float64(moreOut-out)/seconds, what+"-out/s")
	b.ReportMetric(100*(moreCPU-cpu).Seconds()/seconds, what+"-cpu-%")
}

// crowdSights are what viewers were sent about one role.
type crowdSights struct {
	text string
	mu   sync.Mutex
	all  []crowdSight
}

type crowdSight struct {
	viewer int
	at     time.Time
	line   string
}

// last is when the last viewer was sent that text first, and how many were.
func (c *crowdSights) last(text string) (at time.Time, viewers int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	first := map[int]time.Time{}
	for _, s := range c.all {
		if _, known := first[s.viewer]; !known && strings.Contains(s.line, text) {
			first[s.viewer] = s.at
			if s.at.After(at) {
				at = s.at
			}
		}
	}
	return at, len(first)
}

// crowdViewer follows the first screen.
func crowdViewer(ctx context.Context, url string, viewer int, seen *crowdSights) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/live?view=/", nil)
	if err != nil {
		return
	}
	answer, err := http.DefaultClient.Do(r)
	if err != nil {
		return
	}
	defer func() { _ = answer.Body.Close() }()
	for reader := bufio.NewReaderSize(answer.Body, 1<<16); ; {
		line, err := reader.ReadString('\n')
		if err != nil {
			return
		}
		if strings.Contains(line, seen.text) {
			seen.mu.Lock()
			seen.all = append(seen.all, crowdSight{viewer, time.Now(), line})
			seen.mu.Unlock()
		}
	}
}

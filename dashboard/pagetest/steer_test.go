package pagetest

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/chromedp"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
)

// hostile is a text that runs a script where it is taken for HTML.
const hostile = `</td><img src=x onerror="window.hacked=1">"'` + "\u202e"

// hostileName is such a text as a name. The library gives nothing such a name; another program
// may write the record.
const hostileName = "<img/src=x/onerror=window.hacked=1>"

// order is an input of a tenant.
type order struct{ Tenant, Text string }

// hostileShop is a shop whose programs write hostile text into everything that takes any: what they
// are, errors, inputs, headers, tenants and reasons. The first attempt at an order fails.
func (s *site) hostileShop() {
	s.t.Helper()
	orders := assign.NewKind[order, string]("order", assign.FairBy(func(o order) string { return o.Tenant }))
	album := assign.NewKind[assign.GroupRef, string]("album")
	var tried atomic.Bool
	p, err := election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: "shop-a", TTL: 20 * time.Second,
		Meta: map[string]string{"program": hostile, "version": hostile, "zone": hostile},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	a, err := assign.New(p, assign.Config{Namespace: "jobs", Role: "jobs", StreamAutoCreate: true, Slots: 4})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := errors.Join(
		assign.Handle(a, orders, func(context.Context, *assign.Task[order]) (string, error) {
			if tried.CompareAndSwap(false, true) {
				return "", assign.Permanent(errors.New("order 4711 has no address " + hostile))
			}
			return "", nil
		}),
		assign.Handle(a, album, func(context.Context, *assign.Task[assign.GroupRef]) (string, error) { return "", nil }),
	); err != nil {
		s.t.Fatal(err)
	}
	name, lead := a.Role()
	e, err := p.Campaign(election.RoleConfig{Role: name, Lead: lead})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := e.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
	if err := p.Open(s.t.Context(), s.nc); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.Close(ctx)
	})
	ctx := s.t.Context()
	dead, err := assign.Submit(ctx, s.jobs, orders, order{hostile, hostile}, assign.WithID("order-4711"),
		assign.WithHeader("note", hostile))
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := dead.Wait(ctx); !errors.Is(err, assign.ErrTaskDead) {
		s.t.Fatal(err)
	}
	g, err := assign.SubmitGroup(ctx, s.jobs, "nightly", orders, []order{{"a", "1"}, {"b", "2"}}, album)
	if err != nil {
		s.t.Fatal(err)
	}
	if _, err := g.Wait(ctx); err != nil {
		s.t.Fatal(err)
	}
	for _, subject := range []string{
		"$KV.roles.c.role.", "$KV.roles.c.member.", "$KV.roles.c.lease.", "$KV.roles.w.lease.", "$KV.TASKS_jobs.q.",
		"$KV.TASKS_jobs.g.group/", "$KV.TASKS_jobs.r.", "$KV.TASKS_jobs.p.",
	} {
		if _, err := s.nc.Request(subject+hostileName, []byte(`{"v":1,"instance":"`+hostileName+`"}`), patience); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := errors.Join(
		assign.PauseKind(ctx, s.jobs, "letter", hostile),
		assign.Recur(ctx, s.jobs, orders, "monthly", "0 3 1 * *", order{"c", hostile}),
		assign.PauseRecurrence(ctx, s.jobs, "monthly", hostile),
	); err != nil {
		s.t.Fatal(err)
	}
	letters := assign.NewKind[order, string]("letter", assign.FairBy(func(o order) string { return o.Tenant }))
	if _, err := assign.Submit(ctx, s.jobs, letters, order{hostile, "x"}, assign.WithID("letter-1")); err != nil {
		s.t.Fatal(err)
	}
}

// moved is the sum of the layout shifts since the page was first painted: parts of the window,
// times parts of the way through it.
const moved = `new Promise(done => {
  new PerformanceObserver(list => done(list.getEntries().reduce((sum, e) => sum + e.value, 0)))
    .observe({ type: "layout-shift", buffered: true });
  setTimeout(() => done(0), 100);
})`

// TestSteering: somebody who sees the page for the first time finds the dead task from the first
// screen alone, reads its error and its input, and requeues it. Without the right that is refused.
// Hostile text stays text on every screen.
func TestSteering(t *testing.T) {
	var mayNot atomic.Bool
	s := begin(t, func(o *dashboard.Options) {
		o.Title = "prod " + hostile
		o.Log = slog.New(slog.DiscardHandler)
		o.Steer = func(*http.Request) (string, bool) { return "alice " + hostile, !mayNot.Load() }
	})
	s.hostileShop()
	b := launch(t, s.home)
	tab := b.ctx
	says := func(texts ...string) {
		t.Helper()
		for _, text := range texts {
			b.until(tab, "the page says "+text, `document.body.innerText.includes(`+"`"+text+"`"+`)`)
		}
	}
	b.open(tab, "/")
	says("dead task", "jobs: 1 dead task", "read the errors", "letter", "it is paused")

	// From the first screen on, by clicks.
	b.click(tab, `a.tile[href="/dead"]`, "#list a")
	b.click(tab, "#list a", "#task pre")
	says("order 4711 has no address", `"Text":`)
	mayNot.Store(true)
	b.expect("403")
	b.click(tab, "#task a.act", "main .empty")
	says("you may look at this page, and not steer")
	mayNot.Store(false)
	b.do(tab, chromedp.NavigateBack(), chromedp.WaitVisible(chromedp.CSS("#task a.act")))
	b.click(tab, "#task a.act", "button.do")
	says("Requeue?", "order-4711", "alice")
	b.click(tab, "button.do", "#task")
	says("succeeded")

	b.open(tab, "/tasks")
	says("1 tenant", "letter-1")
	b.click(tab, `a[href="/groups?n=jobs"]`, "#groups table")
	b.click(tab, "#groups tbody a", "#group")
	says("2 of 2", "group/nightly")
	b.open(tab, "/recurrences")
	says("paused", "monthly")
	b.click(tab, `a[href*="do=run-recurrence"]`, "button.do")
	b.click(tab, "button.do", "#recurring")
	b.click(tab, `a[href*="do=resume-recurrence"]`, "button.do")
	b.click(tab, "button.do", "#recurring")
	b.until(tab, "it is not paused", `!document.querySelector("#recurring .paused")`)
	b.open(tab, "/events")
	says(hostileName)
	b.open(tab, "/events?change=steered")
	says("requeue by alice", "run-recurrence by alice", "resume-recurrence by alice")

	for _, path := range []string{
		"/", "/role?name=jobs", "/members", "/tasks", "/task?n=jobs&id=letter-1", "/dead", "/groups", "/group?name=nightly",
		"/recurrences", "/doctor", "/events", "/act?do=pause-kind&n=jobs&kind=order",
	} {
		b.open(tab, path)
		if eval[bool](b, tab, `window.hacked === 1 || document.images.length > 0 ||
			document.body.innerHTML.includes("\u202e")`) {
			t.Errorf("%s takes text for HTML:\n%s", path, eval[string](b, tab, "document.body.innerHTML"))
		}
	}
	for _, path := range []string{"/members", "/tasks", "/recurrences"} { // on which little happens
		b.open(tab, path)
		b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)
		if by := eval[float64](b, tab, moved); by > 0.005 {
			t.Errorf("%s moves by %v after it was shown: a click may miss", path, by)
		}
	}
	page, err := assign.List(t.Context(), s.jobs, assign.ListOptions{
		Prefix: "cron/monthly/run-", States: []assign.State{assign.StateSucceeded},
	})
	if err != nil || len(page.Tasks) != 1 || !strings.HasPrefix(page.Tasks[0].ID, "cron/monthly/run-") {
		t.Errorf("run now: %+v, %v", page, err)
	}
	b.clean()
}

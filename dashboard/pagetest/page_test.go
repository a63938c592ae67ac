package pagetest

import (
	"context"
	"errors"
	"net"
	"net/http"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/nats-io/nats.go"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
	"github.com/rolemanager/rolemanager/election"
	"github.com/rolemanager/rolemanager/internal/natskv"
	"github.com/rolemanager/rolemanager/internal/natsrun"
	"github.com/rolemanager/rolemanager/internal/natstest"
)

// site is a page about a bucket in use.
type site struct {
	t      *testing.T
	server *natsrun.Server
	nc     *nats.Conn
	jobs   *assign.Client
	home   string
	// observer is that of the page.
	observer *election.Observer
}

func begin(t *testing.T, edit func(*dashboard.Options)) *site {
	t.Helper()
	s := &site{t: t, server: natstest.Server(t, natstest.Listen, natstest.StoreIn(t.TempDir()))}
	s.nc = natstest.Connect(t, s.server, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))
	if _, err := natskv.Create(t.Context(), s.nc, natskv.Config{Bucket: "roles"}); err != nil {
		t.Fatal(err)
	}
	o, err := election.Observe(t.Context(), s.nc, "roles", election.WithWorkers())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(o.Close)
	s.observer = o
	if s.jobs, err = assign.NewClient(s.nc, assign.ClientConfig{Namespace: "jobs", StreamAutoCreate: true}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.jobs.Close)
	options := dashboard.Options{Observer: o, Tasks: []*assign.Client{s.jobs}, Title: "prod-eu", ShowPayloads: true}
	if edit != nil {
		edit(&options)
	}
	h, err := dashboard.New(options)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	web := &http.Server{Handler: h, ReadHeaderTimeout: patience}
	go func() { _ = web.Serve(l) }()
	t.Cleanup(func() {
		h.Close()
		_ = web.Close()
	})
	s.home = "http://" + l.Addr().String()
	return s
}

// process is a member in this process with a connection of its own, so that it can be killed.
type process struct {
	nc      *nats.Conn
	session *election.Session
}

// kill cuts it off, as if its machine had failed.
func (p *process) kill() { p.nc.Close() }

func newSession(instance string, ttl time.Duration) (*election.Session, error) {
	return election.NewSession(election.SessionConfig{
		Bucket: "roles", InstanceID: instance, TTL: ttl,
		Meta: map[string]string{"program": "shop", "version": "1.4.2", "zone": "eu-1"},
	})
}

// member takes part in roles, and in the tasks if work is given.
func (s *site) member(instance string, ttl time.Duration, work func(*election.Session), roles ...string) *process {
	s.t.Helper()
	p := &process{nc: natstest.Connect(s.t, s.server, nats.MaxReconnects(-1), nats.ReconnectWait(50*time.Millisecond))}
	var err error
	p.session, err = newSession(instance, ttl)
	if err != nil {
		s.t.Fatal(err)
	}
	if work != nil {
		work(p.session)
	}
	for _, role := range roles {
		e, err := p.session.Campaign(election.RoleConfig{Role: role, Lead: untilItEnds})
		if err != nil {
			s.t.Fatal(err)
		}
		if err := e.Start(s.t.Context()); err != nil {
			s.t.Fatal(err)
		}
	}
	if err := p.session.Open(s.t.Context(), p.nc); err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		_ = p.session.Close(ctx)
	})
	return p
}

// shop is a bucket in use: three instances, roles of which nobody leads one, and tasks that wait,
// run and are dead.
func (s *site) shop() (leader *outside) {
	s.t.Helper()
	const ttl = 5 * time.Second // on a busy machine too, nobody else loses a lease
	leader = s.process("shop-a-7f9c", ttl, "billing", "mail", "search-index")
	s.led("billing", "shop-a-7f9c")
	s.member("shop-b-22d1", ttl, s.works, "billing", "mail", "search-index", "reports", "cleanup")
	s.led("reports", "shop-b-22d1")
	s.member("shop-c-90ab", ttl, nil, "billing", "mail", "reports", "cleanup")
	gone := s.member("batch-1-c3d4", ttl, nil, "ledger/export")
	s.led("ledger/export", "batch-1-c3d4")
	gone.kill()
	submit := func(kind, id string, options ...assign.SubmitOption) *assign.Pending[string] {
		task, err := assign.Submit(s.t.Context(), s.jobs, assign.NewKind[string, string](kind), "order 4711",
			append(options, assign.WithID(id))...)
		if err != nil {
			s.t.Fatal(err)
		}
		return task
	}
	for _, id := range []string{"invoice-1041", "invoice-1042"} {
		if _, err := submit("invoice", id).Wait(s.t.Context()); !errors.Is(err, assign.ErrTaskDead) {
			s.t.Fatal(err)
		}
	}
	for _, id := range []string{"video-1", "video-2", "video-3"} {
		submit("transcode", id)
	}
	if err := assign.PauseKind(s.t.Context(), s.jobs, "newsletter", "until Monday"); err != nil {
		s.t.Fatal(err)
	}
	for _, id := range []string{"letter-1", "letter-2"} {
		submit("newsletter", id)
	}
	for _, id := range []string{"scan-1", "scan-2"} {
		submit("scan", id)
	}
	photos := []string{"coast", "harbour", "lighthouse", "raw", "town"}
	if _, err := assign.SubmitGroup(s.t.Context(), s.jobs, "album-7", assign.NewKind[string, string]("thumbnail"), photos,
		assign.NewKind[assign.GroupRef, string]("album")); err != nil {
		s.t.Fatal(err)
	}
	return leader
}

// works makes a session hand out the tasks and run some kinds.
func (s *site) works(session *election.Session) {
	a, err := assign.New(session, assign.Config{Namespace: "jobs", Role: "jobs", StreamAutoCreate: true, Slots: 4})
	if err != nil {
		s.t.Fatal(err)
	}
	for kind, handler := range map[string]func(context.Context, *assign.Task[string]) (string, error){
		"invoice": func(context.Context, *assign.Task[string]) (string, error) {
			return "", assign.Permanent(errors.New("order 4711 has no address"))
		},
		"newsletter": func(context.Context, *assign.Task[string]) (string, error) { return "", nil },
		"thumbnail": func(ctx context.Context, task *assign.Task[string]) (string, error) {
			if task.Input == "raw" { // which takes long
				<-ctx.Done()
			}
			return "", ctx.Err()
		},
		"scan": func(ctx context.Context, _ *assign.Task[string]) (string, error) {
			<-ctx.Done()
			return "", ctx.Err()
		},
	} {
		if err := assign.Handle(a, assign.NewKind[string, string](kind), handler); err != nil {
			s.t.Fatal(err)
		}
	}
	name, lead := a.Role()
	e, err := session.Campaign(election.RoleConfig{Role: name, Lead: lead})
	if err != nil {
		s.t.Fatal(err)
	}
	if err := e.Start(s.t.Context()); err != nil {
		s.t.Fatal(err)
	}
}

// untilItEnds is work that does nothing.
func untilItEnds(ctx context.Context, _ *election.Term) error {
	<-ctx.Done()
	return nil
}

// led waits until an instance leads a role.
func (s *site) led(role, instance string) {
	s.t.Helper()
	o, err := election.Observe(s.t.Context(), s.nc, "roles")
	if err != nil {
		s.t.Fatal(err)
	}
	defer o.Close()
	natstest.Eventually(s.t, instance+" leads "+role, patience, func() (bool, string) {
		info, _ := o.Role(role)
		return info.State == election.RoleLeading && info.Leader == instance, info.Leader
	})
}

// another says that another instance leads the role than the one that is killed.
const another = `(t => t.includes("epoch") && !t.includes("shop-a"))(
  document.getElementById("r:billing").cells[1].innerText)`

// TestPage: what an operator sees and does, in one browser.
func TestPage(t *testing.T) {
	s := begin(t, nil)
	leader := s.shop()
	b := launch(t, s.home)
	tab := b.ctx
	b.open(tab, "/")
	b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)
	b.until(tab, "what waits is there", `document.querySelectorAll("#waits li").length >= 2`)
	b.until(tab, "a row is red", `document.querySelectorAll("tr.unled").length === 1`)

	// The first screen holds it all, without scrolling.
	for _, part := range []string{"#tiles", "#matrix", ".pane:has(#todo)", ".pane:has(#waits)"} {
		bottom := eval[float64](b, tab, `document.querySelector("`+part+`").getBoundingClientRect().bottom`)
		if bottom > 800 || bottom <= 0 {
			t.Errorf("%s ends at %v, which is not on the first screen", part, bottom)
		}
	}
	if wide := eval[float64](b, tab, `document.documentElement.scrollWidth`); wide > 1280 {
		t.Errorf("the page is %v wide", wide)
	}
	// One can read there who leads, what nobody leads, what to do, and what waits and why.
	for what, element := range map[string]string{
		"who leads":           `document.getElementById("r:billing").cells[1]`,
		"what nobody leads":   `document.querySelector("tr.unled").cells[1]`,
		"what to do":          `document.querySelector("#todo li .fix")`,
		"what waits, and why": `document.querySelector("#waits li .why")`,
		"the dead tasks":      `document.querySelector('a.tile[href="/dead"]')`,
	} {
		if !eval[bool](b, tab, `(`+readable+`)(`+element+`)`) {
			t.Errorf("%s cannot be read without scrolling", what)
		}
	}
	for _, scheme := range []string{"light", "dark"} {
		b.scheme(tab, scheme)
		b.picture(tab, "page-"+scheme)
		for _, path := range []string{
			"/", "/role?name=billing", "/members", "/tasks", "/dead", "/doctor", "/events", "/recurrences", "/groups",
			"/task?n=jobs&id=invoice-1041",
		} {
			b.open(tab, path)
			for _, poor := range eval[[]string](b, tab, contrasts) {
				t.Errorf("%s, %s: %s", path, scheme, poor)
			}
		}
		b.open(tab, "/")
	}

	// Somebody who has not seen the code finds the dead task, its error and its input.
	b.click(tab, `a.tile[href="/dead"]`, "#list a")
	b.click(tab, "#list a", "#task pre")
	b.until(tab, "the error and the input are there",
		`document.body.innerText.includes("has no address") && document.body.innerText.includes('"order 4711"')`)
	b.open(tab, "/")
	b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)

	// Seven tabs of one browser are all kept as they are.
	tabs := []context.Context{tab}
	for _, path := range []string{"/members", "/?q=billing", "/role?name=billing", "/events", "/?show=unled", "/"} {
		next := b.tab(tab)
		b.open(next, path)
		tabs = append(tabs, next)
	}
	for _, each := range tabs {
		b.until(each, "every tab is live", `document.getElementById("link").dataset.state === "live"`)
	}

	// The process of a leader is killed, and its cell changes without a reload.
	eval[bool](b, tab, `window.kept = true`)
	leader.kill()
	b.until(tab, "another one leads", another)
	b.until(tabs[2], "another tab shows it too", another)
	b.until(tabs[3], "the page of the role shows it too",
		`document.querySelector("#terms tbody").rows.length >= 2`)
	if !eval[bool](b, tab, `window.kept === true`) {
		t.Error("the page was loaded again")
	}

	// Pictures of other screens.
	b.scheme(tab, "light")
	for name, of := range map[string]struct{ path, there string }{
		"page-role":   {"/role?name=billing", "#terms tbody tr:nth-child(2)"},
		"page-tasks":  {"/tasks", "#list tbody tr"},
		"page-task":   {"/task?n=jobs&id=invoice-1041", "#task pre"},
		"page-groups": {"/groups", "#groups tbody tr"},
	} {
		b.open(tab, of.path)
		b.do(tab, chromedp.WaitVisible(chromedp.CSS(of.there))) // a group is listed within 10 s
		b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)
		b.picture(tab, name)
	}
	b.open(tab, "/")
	b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)

	// The server goes, and comes back.
	b.mu.Lock()
	b.lost = true
	b.mu.Unlock()
	s.server.Stop()
	b.until(tab, "a banner says so", `document.getElementById("banner").innerText.includes("No connection to NATS")`)
	if err := s.server.Restart(); err != nil {
		t.Fatal(err)
	}
	b.until(tab, "the page is fresh again", `document.getElementById("link").dataset.state === "live" &&
		!document.querySelector("#banner p") && document.querySelectorAll("tr.unled").length <= 1`)
	b.clean()
}

// readable reports whether an element has text, and nothing hides a part of it.
const readable = `e => {
  const box = e.getBoundingClientRect(), at = (x, y) => e.contains(document.elementFromPoint(x, y));
  const x = box.left + Math.min(12, box.width / 2), inner = Math.min(4, box.height / 2); // corners are round
  return e.innerText.trim() !== '' && box.top >= 0 && box.bottom <= innerHeight && box.right <= innerWidth &&
    at(x, box.top + inner) && at(x, box.bottom - inner);
}`

// contrasts lists texts whose contrast with what is behind them is below 4.5.
const contrasts = `(() => {
  const parse = c => (c.match(/[\d.]+/g) || [0, 0, 0, 0]).map(Number);
  const linear = v => (v /= 255, v <= .03928 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4);
  const light = c => { const [r, g, b] = c.map(linear); return .2126 * r + .7152 * g + .0722 * b; };
  const poor = new Set();
  const walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    if (!n.textContent.trim()) continue;
    const e = n.parentElement, s = getComputedStyle(e), box = e.getBoundingClientRect();
    if (s.visibility === 'hidden' || !box.width || box.right < 0 || e.closest('svg')) continue;
    let up = e, back = [0, 0, 0, 0];
    const none = () => (back = parse(getComputedStyle(up).backgroundColor), back.length > 3 && back[3] === 0);
    while (up && none()) up = up.parentElement;
    const a = light(parse(s.color)), b = light(back), ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    const text = n.textContent.trim().slice(0, 40);
    if (ratio < 4.5) poor.add(ratio.toFixed(2) + ' ' + e.tagName + '.' + e.className + ' ' + text);
  }
  return [...poor];
})()`

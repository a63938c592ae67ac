package pagetest

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/accessibility"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/dashboard"
)

// allScreens are all of them, and the confirmation of an act.
var allScreens = []string{
	"/", "/role?name=billing", "/members", "/tasks", "/dead", "/doctor", "/events", "/recurrences", "/groups",
	"/task?n=jobs&id=invoice-1041", "/act?do=requeue&n=jobs&id=invoice-1041",
}

// named are the roles of elements that a person cannot use without a name.
var named = map[string]bool{
	"link": true, "button": true, "searchbox": true, "textbox": true, "combobox": true, "heading": true, "image": true,
	"img": true, "meter": true, "navigation": true, "region": true, "columnheader": true, "rowheader": true,
}

// nameless are the elements of a tab that a screen reader could not name.
func (b *browser) nameless(ctx context.Context) (all []string) {
	b.t.Helper()
	tree, err := chromedp.Call(ctx, accessibility.GetFullAXTree, accessibility.GetFullAXTreeParams{})
	if err != nil {
		b.t.Fatal(err)
	}
	text := func(v *accessibility.Value) string {
		if v == nil {
			return ""
		}
		return strings.Trim(string(v.Value), `" `)
	}
	seen := 0
	for _, n := range tree.Nodes {
		if n.Ignored || !named[text(n.Role)] {
			continue
		}
		if seen++; text(n.Name) == "" {
			all = append(all, fmt.Sprintf("%s, node %d", text(n.Role), n.BackendDOMNodeID))
		}
	}
	if seen < 8 {
		b.t.Errorf("%d elements with a name are found: what is looked for is not what there is", seen)
	}
	return all
}

// focused is what has the focus, and whether that can be seen: its tag, its link and its text.
const focused = `(e => { const s = getComputedStyle(e), box = e.getBoundingClientRect();
  return [e.tagName, e.getAttribute('href') || e.name || '', e.innerText.trim().slice(0, 40),
    s.outlineStyle !== 'none' && parseFloat(s.outlineWidth) >= 1 && box.bottom > 0 && box.top < innerHeight ? '' : 'unseen'];
})(document.activeElement)`

// tabTo presses the tabulator until an element with this link has the focus.
func (b *browser) tabTo(ctx context.Context, link string) {
	b.t.Helper()
	for range 60 {
		b.do(ctx, chromedp.KeyEvent(kb.Tab))
		now := eval[[]string](b, ctx, focused)
		if now[3] != "" {
			b.t.Errorf("the focus cannot be seen on %v", now)
		}
		if strings.HasPrefix(now[1], link) {
			return
		}
	}
	b.t.Fatalf("the tabulator does not lead to %s", link)
}

// TestAccess: the page can be used with keys alone, in a narrow window, with a screen reader, and
// without scripts.
func TestAccess(t *testing.T) {
	s := begin(t, func(o *dashboard.Options) {
		o.Log = slog.New(slog.NewTextHandler(io.Discard, nil))
		o.Steer = func(*http.Request) (string, bool) { return "alice", true }
	})
	s.shop()
	b := launch(t, s.home)
	tab := b.ctx
	live := func() {
		t.Helper()
		b.until(tab, "the page is live", `document.getElementById("link").dataset.state === "live"`)
	}
	// requeued waits until a dead task has been requeued, and has died again.
	requeued := func(id string, act func()) {
		t.Helper()
		before, err := assign.Get(t.Context(), s.jobs, id)
		if err != nil || before.State != assign.StateDead {
			t.Fatalf("%s is %s: %v", id, before.State, err)
		}
		act()
		for end := time.Now().Add(patience); ; time.Sleep(50 * time.Millisecond) {
			now, err := assign.Get(t.Context(), s.jobs, id)
			if err == nil && now.State == assign.StateDead && now.Ended.After(before.Ended) {
				return
			}
			if time.Now().After(end) {
				t.Fatalf("%s did not run again: %s, %v", id, now.State, err)
			}
		}
	}

	t.Log("names, and a window of 400 pixels")
	for _, path := range allScreens {
		b.open(tab, path)
		for _, element := range b.nameless(tab) {
			t.Errorf("%s: an element without a name: %s", path, element)
		}
		b.do(tab, chromedp.EmulateViewport(400, 800))
		wide := eval[float64](b, tab, `Math.max(document.documentElement.scrollWidth, document.body.scrollWidth)`)
		if wide > 400 {
			t.Errorf("%s is %v wide, in a window of 400", path, wide)
		}
		if hidden := eval[[]string](b, tab, beyond); len(hidden) > 0 {
			t.Errorf("%s: what cannot be scrolled to at 400 pixels: %v", path, hidden)
		}
		b.do(tab, chromedp.EmulateViewport(1280, 800))
	}

	t.Log("by keys alone")
	b.open(tab, "/")
	live()
	b.do(tab, chromedp.KeyEvent(kb.Tab))
	if first := eval[[]string](b, tab, focused); first[1] != "#main" || first[3] != "" {
		t.Errorf("the first stop is %v, not the way to the content", first)
	}
	requeued("invoice-1041", func() {
		b.tabTo(tab, "/dead")
		b.follow(tab, chromedp.KeyEvent(kb.Enter), "#list tbody a")
		b.tabTo(tab, "/task?id=invoice-1041")
		b.follow(tab, chromedp.KeyEvent(kb.Enter), "#task a.act")
		b.tabTo(tab, "/act?do=requeue")
		b.follow(tab, chromedp.KeyEvent(kb.Enter), "button.do")
		if at := eval[[]string](b, tab, focused); at[0] != "BUTTON" {
			t.Errorf("the confirmation has its focus on %v", at)
		}
		b.follow(tab, chromedp.KeyEvent(kb.Enter), "#task")
	})

	t.Log("the focus stays where it is while the page changes")
	b.open(tab, "/")
	live()
	b.do(tab, chromedp.Focus(chromedp.CSS(`a.tile[href="/tasks"]`)))
	waiting := eval[string](b, tab, `document.querySelector('a.tile[href="/tasks"]').innerText`)
	if _, err := assign.Submit(t.Context(), s.jobs, assign.NewKind[string, string]("transcode"), "x"); err != nil {
		t.Fatal(err)
	}
	b.until(tab, "one more waits",
		fmt.Sprintf(`document.querySelector('a.tile[href="/tasks"]').innerText !== %q`, waiting))
	if at := eval[[]string](b, tab, focused); at[1] != "/tasks" {
		t.Errorf("the focus has gone to %v", at)
	}

	t.Log("a link stays where it is while it is pressed")
	const tiles = `document.querySelector('a.tile[href="/dead"]')`
	swapped := func() bool { // the page hears that the tiles have changed
		return eval[bool](b, tab, `(() => {
			const id = "tiles", view = document.documentElement.dataset.view, was = `+tiles+`;
			new BroadcastChannel("rolemanager " + document.documentElement.dataset.base)
				.postMessage({ swap: { view, swaps: [{ id, html: document.getElementById(id).outerHTML }] } });
			return new Promise(done => setTimeout(() => done(!was.isConnected), 200));
		})()`)
	}
	at := eval[[2]float64](b, tab, `(r => [r.x + r.width / 2, r.y + r.height / 2])(`+tiles+`.getBoundingClientRect())`)
	mouse := func(kind input.DispatchMouseEventType) chromedp.Action[chromedp.Void] {
		return chromedp.MouseEvent(kind, at[0], at[1], chromedp.ButtonLeft, chromedp.ClickCount(1))
	}
	if !swapped() {
		t.Error("the page does not hear of a change")
	}
	b.do(tab, mouse(chromedp.MousePressed))
	if swapped() {
		t.Error("a link was replaced while it was pressed: the click is lost")
	}
	b.follow(tab, mouse(chromedp.MouseReleased), "#list")

	t.Log("without scripts")
	off := emulation.SetScriptExecutionDisabledParams{Value: true}
	if _, err := chromedp.Call(tab, emulation.SetScriptExecutionDisabled, off); err != nil {
		t.Fatal(err)
	}
	b.open(tab, "/")
	if state := eval[string](b, tab, `document.getElementById("link").dataset.state`); state != "still" {
		t.Errorf("without scripts the page is %s", state)
	}
	b.do(tab, chromedp.SendKeys(chromedp.CSS(`input[name=q]`), "search"))
	b.click(tab, ".filter button", `[id="r:search-index"]`)
	if eval[bool](b, tab, `document.getElementById("r:billing") !== null`) {
		t.Error("the filter shows roles that it does not select")
	}
	b.open(tab, "/")
	requeued("invoice-1042", func() {
		for _, step := range []struct{ click, then string }{
			{`a.tile[href="/dead"]`, "#list tbody a"},
			{`a[href^="/task?id=invoice-1042"]`, "#task a.act"},
			{"#task a.act", "button.do"},
			{"button.do", "#task"},
		} {
			b.click(tab, step.click, step.then)
		}
	})
	b.clean()
}

// beyond lists texts that lie outside a narrow window, in nothing that can be scrolled.
const beyond = `(() => {
  const all = new Set(), walk = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  for (let n; n = walk.nextNode();) {
    const e = n.parentElement;
    if (!n.textContent.trim() || e.closest('.scroll, .skip, svg, option')) continue;
    const box = e.getBoundingClientRect();
    if (box.width && (box.right > innerWidth + 1 || box.left < -1)) all.add(n.textContent.trim().slice(0, 40));
  }
  return [...all];
})()`

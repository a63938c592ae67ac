package pagetest

import (
	"context"
	"flag"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

var pictures = flag.String("pictures", "", "directory to write the pictures to")

// patience is how long a test waits for what must come.
const patience = time.Minute

var program string // of the browser

func TestMain(m *testing.M) {
	if of := os.Getenv(asMember); of != "" {
		if err := beMember(of); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	flag.Parse()
	if os.Getenv("PAGE") == "off" && os.Getenv("CI") == "" {
		fmt.Println("PAGE=off: the page is not tried in a browser")
		return
	}
	var err error
	if program, err = installed(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

// installed finds Chromium, or installs it.
func installed() (string, error) {
	find := func() string {
		for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
			if path, err := exec.LookPath(name); err == nil {
				return path
			}
		}
		return ""
	}
	if path := find(); path != "" {
		return path, nil
	}
	const install = "apt-get update -q && " +
		"DEBIAN_FRONTEND=noninteractive apt-get install -qy --no-install-recommends chromium fonts-dejavu-core"
	if out, err := exec.Command("sh", "-c", install).CombinedOutput(); err != nil {
		return "", fmt.Errorf("there is no Chromium, and it cannot be installed (PAGE=off leaves these tests out): %w\n%s",
			err, out)
	}
	if path := find(); path != "" {
		return path, nil
	}
	return "", fmt.Errorf("chromium was installed, and is not in PATH")
}

// browser is one Chromium with its tabs.
type browser struct {
	t    *testing.T
	ctx  context.Context
	home string // the origin of the page

	mu     sync.Mutex
	faults []string
	lost   bool   // the connection is cut on purpose: faults of the network are meant
	meant  string // a fault with this text is, too; "" for none
}

func launch(t *testing.T, home string) *browser {
	t.Helper()
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox,
		chromedp.WindowSize(1280, 800), chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.WSURLReadTimeout(patience))
	allocator, end := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(end)
	b := &browser{t: t, home: home}
	b.ctx = b.tab(allocator)
	return b
}

// tab opens a tab, and notes what goes wrong in it.
func (b *browser) tab(parent context.Context) context.Context {
	b.t.Helper()
	ctx, end := chromedp.NewContext(parent)
	b.t.Cleanup(end)
	err := chromedp.Listen(ctx, func(e any) {
		switch e := e.(type) {
		case *runtime.EventExceptionThrown:
			b.fault("exception: " + e.ExceptionDetails.Text)
		case *runtime.EventConsoleAPICalled:
			b.fault("the console was written to: " + string(e.Type))
		case *log.EventEntryAdded:
			if level := string(e.Entry.Level); level != "info" && level != "verbose" {
				b.fault(level + ": " + e.Entry.Text + " " + e.Entry.URL)
			}
		case *network.EventRequestWillBeSent:
			u, err := url.Parse(e.Request.URL)
			if err != nil || u.Scheme != "data" && u.Scheme+"://"+u.Host != b.home {
				b.fault("a request to another origin: " + e.Request.URL)
			}
		}
	})
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := chromedp.Call(ctx, network.Enable, network.EnableParams{}); err != nil {
		b.t.Fatal(err)
	}
	b.do(ctx, chromedp.EmulateViewport(1280, 800))
	return ctx
}

func (b *browser) fault(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.lost && strings.Contains(text, "/live") || b.meant != "" && strings.Contains(text, b.meant) {
		return
	}
	b.faults = append(b.faults, text)
}

// expect makes faults with this text be meant.
func (b *browser) expect(text string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.meant = text
}

// clean fails the test if something has gone wrong in a tab.
func (b *browser) clean() {
	b.t.Helper()
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, f := range b.faults {
		b.t.Error(f)
	}
}

func (b *browser) do(ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	b.t.Helper()
	ctx, end := context.WithTimeout(ctx, patience)
	defer end()
	if err := chromedp.Do(ctx, steps...); err != nil {
		b.t.Fatal(err)
	}
}

// open goes to a screen.
func (b *browser) open(ctx context.Context, path string) {
	b.t.Helper()
	b.do(ctx, chromedp.Navigate(b.home+path), chromedp.WaitVisible(chromedp.CSS("main")))
}

// follow takes a step that leads to another page, and waits until that page has been loaded and
// shows an element. The page before may have one like it.
func (b *browser) follow(ctx context.Context, step chromedp.Action[chromedp.Void], then string) {
	b.t.Helper()
	limited, end := context.WithTimeout(ctx, patience)
	defer end()
	if _, err := chromedp.RunResponse(limited, step); err != nil {
		b.t.Fatalf("no page with %s: %v\n%s", then, err, eval[string](b, ctx, "location + ' ' + document.body.innerText"))
	}
	b.do(ctx, chromedp.WaitVisible(chromedp.CSS(then)))
}

// click follows a link, or presses a button, that leads to another page.
func (b *browser) click(ctx context.Context, selector, then string) {
	b.t.Helper()
	b.follow(ctx, chromedp.Click(chromedp.CSS(selector)), then)
}

// eval evaluates JavaScript in a tab.
func eval[T any](b *browser, ctx context.Context, script string) T {
	b.t.Helper()
	value, err := chromedp.Run(ctx, chromedp.Evaluate[T](script, chromedp.EvalAwaitPromise))
	if err != nil {
		b.t.Fatalf("%s: %v", script, err)
	}
	return value
}

// until waits until a condition in the tab holds.
func (b *browser) until(ctx context.Context, what, condition string) {
	b.t.Helper()
	for end := time.Now().Add(patience); !eval[bool](b, ctx, condition); {
		if time.Now().After(end) {
			b.t.Fatalf("not so: %s\n%s", what, eval[string](b, ctx, "document.body.innerText"))
		}
		time.Sleep(50 * time.Millisecond)
	}
}

// scheme makes a tab light or dark.
func (b *browser) scheme(ctx context.Context, name string) {
	b.t.Helper()
	_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
		Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: name}, {Name: "prefers-reduced-motion", Value: "reduce"},
		},
	})
	if err != nil {
		b.t.Fatal(err)
	}
}

// picture keeps what a tab shows, if pictures are wanted. It may have 200 KB.
func (b *browser) picture(ctx context.Context, name string) {
	b.t.Helper()
	image, err := chromedp.Run(ctx, chromedp.CaptureScreenshot())
	if err != nil {
		b.t.Fatal(err)
	}
	if len(image) > 200_000 {
		b.t.Errorf("the picture %s has %d bytes", name, len(image))
	}
	if *pictures == "" {
		return
	}
	if err := os.WriteFile(filepath.Join(*pictures, name+".png"), image, 0o644); err != nil {
		b.t.Fatal(err)
	}
}

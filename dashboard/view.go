package dashboard

import (
	"bytes"
	"context"
	"crypto/rand"
	"fmt"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// maxViews is how many screens with their filters are remembered as they were drawn last.
const maxViews = 64

// view is a screen with its filter, as it was drawn last. All who look at it share it.
type view struct {
	screen *screen
	query  url.Values

	mu      sync.Mutex
	root    *fragment
	number  uint64
	of      *picture
	drawn   time.Time
	trouble error
}

// renderings numbers them, in this process.
var renderings atomic.Uint64

func bootID() string { return strings.ToLower(rand.Text()[:10]) }

// viewName is the part of a URL that says what a page shows: the path without BasePath and the
// query in a fixed order, without what the screen does not ask for.
func viewName(s *screen, q url.Values) string {
	asked := url.Values{}
	for _, key := range s.asks {
		if v := q.Get(key); v != "" {
			asked.Set(key, v)
		}
	}
	if len(asked) == 0 {
		return "/" + s.path
	}
	return "/" + s.path + "?" + asked.Encode()
}

// view returns the view of a name.
func (h *Handler) view(name string) (*view, error) {
	at, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errQuestion, err)
	}
	for _, s := range screens {
		if at.Path != "/"+s.path {
			continue
		}
		name = viewName(s, at.Query())
		h.mu.Lock()
		defer h.mu.Unlock()
		if v := h.views[name]; v != nil {
			return v, nil
		}
		if len(h.views) >= maxViews {
			clear(h.views) // each is drawn again when it is asked for
		}
		v := &view{screen: s, query: at.Query()}
		h.views[name] = v
		return v, nil
	}
	return nil, fmt.Errorf("%w: there is no screen %s", errNotThere, at.Path)
}

// freshen has the schedulers asked if their last answers are old.
func (h *Handler) freshen(ctx context.Context) {
	h.hub.looked.Store(time.Now().UnixNano())
	h.hub.ask(ctx, 2*askEvery)
}

// render draws a view, unless it is as fresh as it can be. The number is that of the rendering.
func (h *Handler) render(ctx context.Context, name string) (*fragment, uint64, error) {
	v, err := h.view(name)
	if err != nil {
		return nil, 0, err
	}
	h.freshen(ctx)
	v.mu.Lock()
	defer v.mu.Unlock()
	p := h.hub.picture()
	if v.of == p || v.screen.every > 0 && time.Since(v.drawn) < v.screen.every {
		return v.root, v.number, v.trouble
	}
	root, err := h.paint(ctx, v.screen, p, v.query)
	if err != nil {
		if ctx.Err() != nil { // the reader has left: say nothing to the others
			return nil, 0, err
		}
		v.of, v.drawn, v.trouble = p, time.Now(), err
		return nil, 0, err
	}
	v.number = renderings.Add(1)
	root.since(v.root, v.number)
	v.root, v.of, v.drawn, v.trouble = root, p, time.Now(), nil
	return v.root, v.number, nil
}

// paint draws a screen.
func (h *Handler) paint(ctx context.Context, s *screen, p *picture, q url.Values) (*fragment, error) {
	data, err := s.data(ctx, h, p, q)
	if err != nil {
		return nil, err
	}
	var text bytes.Buffer
	if err := h.pages.ExecuteTemplate(&text, s.name(), struct {
		Picture *picture
		Query   url.Values
		Data    any
	}{p, q, data}); err != nil {
		return nil, fmt.Errorf("draw the screen %s: %w", s.Title, err)
	}
	return split("main", text.Bytes()), nil
}

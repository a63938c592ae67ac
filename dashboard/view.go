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

const (
	// maxViews is how many screens with their filters are remembered as they were drawn last, above
	// those that streams follow.
	maxViews = 64
	// maxFollowed is how many different ones streams follow. Each is drawn again with each picture.
	maxFollowed = 256
)

// errCrowded says that streams follow as many different views as they may.
var errCrowded = fmt.Errorf("%d different screens are open already, and this one is not kept up to date: "+
	"close some, or look at one that others look at too", maxFollowed)

// view is a screen with its filter, as it was drawn last. All who look at it share it.
type view struct {
	screen *screen
	query  url.Values

	used      uint64 // under Handler.mu: when it was asked for last, in uses
	followers int    // under Handler.mu: streams that follow it

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
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.remembered(name)
}

// follow returns the view of a name, which is remembered until unfollow. Errors: errCrowded, and
// those of view.
func (h *Handler) follow(name string) (*view, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	v, err := h.remembered(name)
	if err != nil {
		return nil, err
	}
	if v.followers == 0 {
		if h.followed == maxFollowed {
			return nil, errCrowded
		}
		h.followed++
	}
	v.followers++
	return v, nil
}

func (h *Handler) unfollow(v *view) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if v.followers--; v.followers == 0 {
		h.followed--
		h.evict()
	}
}

// remembered returns the view of a name, as it was drawn last or not drawn yet.
func (h *Handler) remembered(name string) (*view, error) {
	at, err := url.Parse(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errQuestion, err)
	}
	for _, s := range screens {
		if at.Path != "/"+s.path {
			continue
		}
		name = viewName(s, at.Query())
		v := h.views[name]
		if v == nil {
			h.evict()
			v = &view{screen: s, query: at.Query()}
			h.views[name] = v
		}
		h.uses++
		v.used = h.uses
		return v, nil
	}
	return nil, fmt.Errorf("%w: there is no screen %s", errNotThere, at.Path)
}

// evict makes room for a view. The one that nobody has asked for the longest is drawn again when
// somebody asks for it. A view that a stream follows stays, or its readers would get all of it.
func (h *Handler) evict() {
	oldest, idle := "", 0
	for name, v := range h.views {
		if v.followers > 0 {
			continue
		}
		idle++
		if oldest == "" || v.used < h.views[oldest].used {
			oldest = name
		}
	}
	if idle >= maxViews {
		delete(h.views, oldest)
	}
}

// freshen has the schedulers asked if their last answers are old.
func (h *Handler) freshen(ctx context.Context) {
	h.hub.looked.Store(time.Now().UnixNano())
	h.hub.fresh(ctx)
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
	return h.draw(s, p, q, data)
}

// draw draws what a screen shows.
func (h *Handler) draw(s *screen, p *picture, q url.Values, data any) (*fragment, error) {
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

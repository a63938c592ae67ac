package dashboard

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/wording"
)

const (
	maxStreams   = 500
	maxTogether  = 16 // views of one stream: the tabs of one browser share it
	writeWithin  = 10 * time.Second
	commentEvery = 15 * time.Second
)

// update is what a stream sends: what has changed in one view.
type update struct {
	View  string `json:"view"`
	Swaps []swap `json:"swaps,omitempty"`
	// Trouble says why the view cannot be drawn.
	Trouble string `json:"trouble,omitempty"`
}

// follower is one view that a stream follows.
type follower struct {
	name    string
	of      *view  // nil: too many others are followed
	sent    uint64 // the rendering that the reader has
	trouble string
}

// serveLive streams what changes in the views that the URL names. The reader says which renderings
// it has: by the id of the last event that it has seen, or in the URL.
func (h *Handler) serveLive(w http.ResponseWriter, r *http.Request) {
	select {
	case h.streams <- struct{}{}:
		defer func() { <-h.streams }()
	default:
		w.Header().Set("Retry-After", "10")
		http.Error(w, fmt.Sprintf("%d pages are open already: close some", maxStreams), http.StatusServiceUnavailable)
		return
	}
	names := r.URL.Query()["view"]
	if len(names) == 0 || len(names) > maxTogether {
		http.Error(w, fmt.Sprintf("name 1 to %d views: /live?view=/", maxTogether), http.StatusBadRequest)
		return
	}
	sent := h.seen(r.Header.Get("Last-Event-ID"))
	if sent == 0 {
		sent = h.seen(r.URL.Query().Get("since"))
	}
	all := make([]follower, len(names))
	defer func() {
		for i := range all {
			if v := all[i].of; v != nil {
				h.unfollow(v)
			}
		}
	}()
	for i, name := range names {
		v, err := h.follow(name)
		if err != nil && !errors.Is(err, errCrowded) {
			http.Error(w, wording.Plain(err), statusOf(err))
			return
		}
		all[i] = follower{name: name, of: v, sent: sent}
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.Header().Set("X-Accel-Buffering", "no")
	to := http.NewResponseController(w)
	write := func(text string) bool {
		// A reader that does not read is disconnected. Not every writer has deadlines. Over HTTP/2 a
		// deadline resets the stream when it passes, also if nothing is being written.
		_ = to.SetWriteDeadline(time.Now().Add(h.writeWithin))
		_, err := w.Write([]byte(text))
		if err == nil {
			err = to.Flush()
		}
		_ = to.SetWriteDeadline(time.Time{})
		return err == nil
	}
	if !write("retry: 1000\n\n") {
		return
	}
	comment := time.NewTicker(commentEvery)
	defer comment.Stop()
	for {
		next := h.hub.next() // before the picture is read: none is missed
		if text := h.updates(r, all); text != "" && !write(text) {
			return
		}
		for waiting := true; waiting; {
			select {
			case <-next:
				waiting = false
			case <-comment.C:
				if !write(": here\n\n") {
					return
				}
			case <-r.Context().Done():
				return
			case <-h.hub.ended:
				return
			}
		}
	}
}

// seen is the rendering that an id of this process names, 0 for none.
func (h *Handler) seen(id string) uint64 {
	boot, number, _ := strings.Cut(id, "-")
	n, err := strconv.ParseUint(number, 10, 64)
	if err != nil || boot != h.boot {
		return 0
	}
	return n
}

// drawFor draws what a reader follows. A view that was one too many is asked for again.
func (h *Handler) drawFor(r *http.Request, f *follower) (root *fragment, number uint64, err error) {
	if f.of == nil {
		if f.of, err = h.follow(f.name); err != nil {
			return nil, 0, err
		}
	}
	return h.render(r.Context(), f.name)
}

// updates are the events for a reader, "" if nothing has changed for it.
func (h *Handler) updates(r *http.Request, all []follower) string {
	var text strings.Builder
	var have uint64
	for i := range all {
		f := &all[i]
		root, number, err := h.drawFor(r, f)
		u := update{View: f.name}
		switch {
		case err != nil && err.Error() != f.trouble:
			u.Trouble, f.trouble, f.sent = wording.Plain(err), err.Error(), 0
		case err == nil && f.sent != number:
			u.Swaps, f.trouble, f.sent = root.news(f.sent, nil), "", number
		}
		if i == 0 || f.sent < have {
			have = f.sent
		}
		if len(u.Swaps) == 0 && u.Trouble == "" {
			continue
		}
		text.WriteString("event: swap\ndata: ")
		e := json.NewEncoder(&text)
		e.SetEscapeHTML(false) // no HTML is around it
		_ = e.Encode(u)        // texts only, into memory; a line break is at its end
		text.WriteString("\n")
	}
	if text.Len() == 0 {
		return ""
	}
	return fmt.Sprintf("id: %s-%d\n%s", h.boot, have, text.String())
}

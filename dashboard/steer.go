package dashboard

import (
	"context"
	"net/http"
	"net/url"
	"time"

	"github.com/rolemanager/rolemanager/internal/wording"
)

// actWithin is how long an act may take: the work of a leader drains meanwhile.
const actWithin = 30 * time.Second

// routeActs adds the confirmation and the act itself. The browser refuses neither a foreign form
// nor a foreign script, so the second is guarded against other origins.
func (h *Handler) routeActs() {
	base := h.options.BasePath
	h.mux.HandleFunc("GET "+base+"/act", h.serveQuestion)
	h.mux.Handle("POST "+base+"/act", http.NewCrossOriginProtection().Handler(http.HandlerFunc(h.serveAct)))
}

// question is the page that asks for a confirmation, and says how it went.
type question struct {
	frame
	Act  act
	Name string
	// Values are the hidden fields of the form.
	Values []field
	Who    string
	Back   string
	// Failed says why it was not done.
	Failed string
}

type field struct{ Name, Value string }

// person is who sends a request, if they may steer. It answers itself if they may not.
func (h *Handler) person(w http.ResponseWriter, r *http.Request) (who string, ok bool) {
	if who, ok = h.options.Steer(r); !ok {
		h.sorry(w, http.StatusForbidden, "you may look at this page, and not steer")
	}
	return who, ok
}

// asked reads what is to be done. It answers itself if that cannot be.
func (h *Handler) asked(w http.ResponseWriter, who string, q url.Values) (question, bool) {
	d := question{Name: q.Get("do"), Who: who, frame: h.frame(&screen{Title: "Confirm"}, "", 0, "")}
	var known bool
	if d.Act, known = acts[d.Name]; !known {
		h.sorry(w, http.StatusNotFound, "there is no act of this name")
		return d, false
	}
	for _, name := range d.Act.Needs {
		if v := q.Get(name); v != "" {
			d.Values = append(d.Values, field{name, v})
		}
	}
	switch {
	case q.Get("role") != "":
		d.Back = h.link("role", "name", q.Get("role"))
	case q.Get("id") != "":
		d.Back = h.link("task", "n", q.Get("n"), "id", q.Get("id"))
	case q.Get("name") != "":
		d.Back = h.link("recurrences", "n", q.Get("n"))
	case d.Name == "requeue-all":
		d.Back = h.link("dead", "n", q.Get("n"))
	default:
		d.Back = h.link("tasks", "n", q.Get("n"))
	}
	return d, true
}

func (h *Handler) serveQuestion(w http.ResponseWriter, r *http.Request) {
	who, ok := h.person(w, r)
	if !ok {
		return
	}
	if d, ok := h.asked(w, who, r.URL.Query()); ok {
		h.show(w, http.StatusOK, "question", d)
	}
}

func (h *Handler) serveAct(w http.ResponseWriter, r *http.Request) {
	who, ok := h.person(w, r) // before the body is read: strangers are not listened to
	if !ok {
		return
	}
	r.Body = http.MaxBytesReader(w, r.Body, 64<<10)
	if err := r.ParseForm(); err != nil {
		h.sorry(w, http.StatusBadRequest, wording.Plain(err))
		return
	}
	d, ok := h.asked(w, who, r.PostForm)
	if !ok {
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), actWithin)
	defer cancel()
	err := d.Act.run(ctx, h, d.Who, r.PostForm)
	h.report(&d, err)
	if err != nil {
		d.Failed = wording.Plain(err)
		status := statusOf(err)
		if status == http.StatusServiceUnavailable {
			status = http.StatusConflict
		}
		h.show(w, status, "question", d)
		return
	}
	http.Redirect(w, r, d.Back, http.StatusSeeOther)
}

// report tells the log and the events of an act, and by whom it was.
func (h *Handler) report(d *question, err error) {
	what := happening{Time: time.Now(), Change: "steered", Text: d.Name + " by " + d.Who}
	attributes := []any{"act", d.Name, "by", d.Who}
	for _, f := range d.Values {
		attributes = append(attributes, f.Name, f.Value)
		switch f.Name {
		case "role":
			what.Role = f.Value
		case "instance":
			what.Member = f.Value
		case "epoch":
		default:
			what.Text += ", " + f.Name + " " + f.Value
		}
	}
	if err != nil {
		what.Text += ": " + wording.Plain(err)
		h.options.Log.Warn("steering failed", append(attributes, "error", wording.Plain(err))...)
	} else {
		h.options.Log.Info("steered", attributes...)
	}
	h.hub.add(what)
}

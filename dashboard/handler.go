package dashboard

import (
	"embed"
	"encoding/json"
	"errors"
	"html/template"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/rolemanager/rolemanager/assign"
	"github.com/rolemanager/rolemanager/internal/wording"
)

//go:embed assets
var assets embed.FS

// Handler serves a page. Make it with New, and end it with Close.
type Handler struct {
	hub     *hub
	options Options
	mux     *http.ServeMux
	pages   *template.Template
	boot    string // another one in each process
	streams chan struct{}
	// writeWithin is how long a reader of a stream may take to read.
	writeWithin time.Duration

	mu       sync.Mutex
	views    map[string]*view
	followed int    // of these: by streams
	uses     uint64 // how often a view was asked for
}

// New makes a page, which watches from now on. It does no I/O. Errors: every fault of o at once,
// each a *ConfigError.
func New(o Options) (*Handler, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	if o.Title == "" {
		o.Title = o.Observer.Bucket()
	}
	if o.Log == nil {
		o.Log = slog.Default()
	}
	h := &Handler{
		options: o, mux: http.NewServeMux(), boot: bootID(), streams: make(chan struct{}, maxStreams),
		writeWithin: writeWithin, views: map[string]*view{},
	}
	h.pages = template.Must(template.New("page").Funcs(h.functions()).ParseFS(assets, "assets/*.html"))
	h.hub = newHub(o)
	h.route()
	return h, nil
}

// Close ends the page and waits for what it runs. Streams end with the server that serves them.
func (h *Handler) Close() { h.hub.close() }

// ServeHTTP answers GET and HEAD below BasePath, and with Options.Steer also POST for acts.
func (h *Handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	head := w.Header()
	head.Set("Content-Security-Policy", "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "+
		"connect-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'")
	head.Set("X-Content-Type-Options", "nosniff")
	head.Set("X-Frame-Options", "DENY")
	// With "no-referrer" the browser sends "Origin: null" with a form of this page. Over plain HTTP
	// off loopback nothing else tells it from a form of another origin.
	head.Set("Referrer-Policy", "same-origin")
	head.Set("Cross-Origin-Opener-Policy", "same-origin")
	head.Set("Cross-Origin-Resource-Policy", "same-origin")
	head.Set("Cache-Control", "no-store")
	h.mux.ServeHTTP(w, r)
}

func (h *Handler) route() {
	base := h.options.BasePath
	for _, s := range screens {
		page, twin := base+"/"+s.path, base+"/"+s.path+".json"
		if s.path == "" {
			page, twin = base+"/{$}", base+"/now.json"
		}
		h.mux.HandleFunc("GET "+page, func(w http.ResponseWriter, r *http.Request) { h.servePage(w, r, s) })
		h.mux.HandleFunc("GET "+twin, func(w http.ResponseWriter, r *http.Request) { h.serveJSON(w, r, s) })
	}
	if base != "" {
		h.mux.Handle("GET "+base, http.RedirectHandler(base+"/", http.StatusFound))
	}
	if h.options.Steer != nil {
		h.routeActs()
	}
	h.mux.HandleFunc("GET "+base+"/live", h.serveLive)
	h.mux.HandleFunc("GET "+base+"/page.js", h.serveAsset("page.js", "text/javascript; charset=utf-8", ""))
	colour := h.options.Colour
	if colour != "" {
		colour = "\n:root { --edge: " + colour + "; }\n"
	}
	h.mux.HandleFunc("GET "+base+"/page.css", h.serveAsset("page.css", "text/css; charset=utf-8", colour))
}

func (h *Handler) serveAsset(name, kind, more string) http.HandlerFunc {
	body, err := assets.ReadFile("assets/" + name)
	if err != nil {
		panic(err) // it is embedded
	}
	body = append(body, more...)
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		w.Header().Set("Cache-Control", "no-cache")
		_, _ = w.Write(body) // the reader may have left
	}
}

// frame is what every page shows around its screen.
type frame struct {
	Title, Bucket, Base, Boot, View, Query string
	Screen                                 *screen
	Screens                                []*screen
	Number                                 uint64
	Main                                   template.HTML
}

func (h *Handler) servePage(w http.ResponseWriter, r *http.Request, s *screen) {
	name := viewName(s, r.URL.Query())
	root, number, err := h.render(r.Context(), name)
	if err != nil {
		h.sorry(w, statusOf(err), wording.Plain(err))
		return
	}
	body := template.HTML(root.html(nil)) //nolint:gosec // html/template made it
	h.show(w, http.StatusOK, "frame", h.frame(s, name, number, body))
}

// show answers with a page.
func (h *Handler) show(w http.ResponseWriter, status int, name string, data any) {
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	w.WriteHeader(status)
	_ = h.pages.ExecuteTemplate(w, name, data) // the reader may have left
}

// sorry answers with a page that says why there is no other one.
func (h *Handler) sorry(w http.ResponseWriter, status int, message string) {
	h.show(w, status, "sorry", struct {
		frame
		Status  int
		Message string
	}{h.frame(&screen{Title: http.StatusText(status)}, "", 0, ""), status, message})
}

func (h *Handler) frame(s *screen, name string, number uint64, body template.HTML) frame {
	_, query, some := strings.Cut(name, "?")
	if some {
		query = "?" + query
	}
	return frame{
		Query: query, Title: h.options.Title, Bucket: h.options.Observer.Bucket(), Base: h.options.BasePath, Boot: h.boot,
		View:   name,
		Screen: s, Screens: screens, Number: number, Main: body,
	}
}

func (h *Handler) serveJSON(w http.ResponseWriter, r *http.Request, s *screen) {
	h.freshen(r.Context())
	data, err := s.data(r.Context(), h, h.hub.picture(), r.URL.Query())
	w.Header().Set("Content-Type", "application/json")
	if err != nil {
		w.WriteHeader(statusOf(err))
		data = struct {
			Error string `json:"error"`
		}{wording.Plain(err)}
	}
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	_ = e.Encode(data) // the reader may have left
}

// errNotThere says that nothing has that name.
var errNotThere = errors.New("not there")

func statusOf(err error) int {
	switch {
	case errors.Is(err, errNotThere), errors.Is(err, assign.ErrTaskNotFound), errors.Is(err, assign.ErrInvalidID):
		return http.StatusNotFound
	case errors.Is(err, assign.ErrInvalidCursor), errors.Is(err, assign.ErrInvalidOption), errors.Is(err, errQuestion):
		return http.StatusBadRequest
	}
	return http.StatusServiceUnavailable
}

// errQuestion says that a URL asks for something that cannot be.
var errQuestion = errors.New("not a valid question")

package roles

import (
	"encoding/json"
	"fmt"
	"net/http"
)

// Handler serves, for GET and HEAD:
//
//	/livez            200 while the process can answer: a restart does not cure an outage of NATS
//	/readyz           200 while the session is open, during an outage until the lease has run out, and no role is stuck;
//	                  else 503 and why. Followers are ready too
//	/leaderz?role=R   200 if this instance leads R, 503 and who does if not; 404 for a role that it takes no part in, 400
//	                  without role
//	/status           [Status] as JSON
//
// The handler shows nothing secret, and changes nothing.
func (m *Manager) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /livez", func(w http.ResponseWriter, _ *http.Request) { say(w, http.StatusOK, "alive") })
	mux.HandleFunc("GET /readyz", m.serveReady)
	mux.HandleFunc("GET /leaderz", m.serveLeader)
	mux.HandleFunc("GET /status", m.serveStatus)
	return mux
}

func (m *Manager) serveReady(w http.ResponseWriter, _ *http.Request) {
	if why := m.unready(m.roleStatuses()); why != "" {
		say(w, http.StatusServiceUnavailable, "not ready: "+why)
		return
	}
	say(w, http.StatusOK, "ready")
}

func (m *Manager) serveLeader(w http.ResponseWriter, r *http.Request) {
	role := r.URL.Query().Get("role")
	if role == "" {
		say(w, http.StatusBadRequest, "which role? Ask for /leaderz?role=NAME")
		return
	}
	e, ok := m.Election(role)
	switch {
	case !ok:
		say(w, http.StatusNotFound, fmt.Sprintf("this instance takes no part in %q", role))
	case e.IsLeader():
		say(w, http.StatusOK, m.session.Instance())
	case e.LeaderID() == "" || e.LeaderID() == m.session.Instance():
		say(w, http.StatusServiceUnavailable, "nobody leads")
	default:
		say(w, http.StatusServiceUnavailable, e.LeaderID())
	}
}

func (m *Manager) serveStatus(w http.ResponseWriter, _ *http.Request) {
	body, err := json.MarshalIndent(m.Status(), "", "  ")
	if err != nil {
		say(w, http.StatusInternalServerError, err.Error())
		return
	}
	respond(w, http.StatusOK, "application/json", append(body, '\n'))
}

func say(w http.ResponseWriter, code int, line string) {
	respond(w, code, "text/plain; charset=utf-8", []byte(line+"\n"))
}

// respond answers with the present state, which must not be cached.
func respond(w http.ResponseWriter, code int, kind string, body []byte) {
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(code)
	_, _ = w.Write(body) // fails when the client has gone
}

package stage

import (
	"context"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// servePage serves on the address of -http, if there is one: the live page about the cluster, the
// pages of the first living instance, and the metrics of all members together.
func (d *demo) servePage() (stop func(), err error) {
	if d.options.http == "" {
		return func() {}, nil
	}
	l, err := net.Listen("tcp", d.options.http)
	if err != nil {
		return nil, fmt.Errorf("serve -http: %w", err)
	}
	live := &livePage{nats: d.cluster.nats, bucket: d.options.bucket, tasks: d.client}
	server := &http.Server{Handler: d.page(live), ReadHeaderTimeout: 5 * time.Second}
	done := make(chan struct{})
	go func() { // joined by stop
		defer close(done)
		_ = server.Serve(l)
	}()
	d.screen.say(plain, "serving http://%s/status and http://%s/metrics", l.Addr(), l.Addr())
	return func() {
		live.close()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second) // for requests that are under way
		defer cancel()
		if server.Shutdown(ctx) != nil {
			_ = server.Close()
		}
		<-done
	}, nil
}

func (d *demo) page(live http.Handler) http.Handler {
	mux := http.NewServeMux()
	mux.Handle("/", live)
	for _, path := range []string{"/status", "/livez", "/readyz", "/leaderz"} {
		mux.HandleFunc("GET "+path, func(w http.ResponseWriter, r *http.Request) {
			if living := d.cluster.living(); len(living) > 0 {
				forward(w, r, living[0].url, path)
				return
			}
			http.Error(w, "no instance is alive", http.StatusServiceUnavailable)
		})
	}
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, r *http.Request) {
		seen := d.cluster.status()
		if base := seen.url(seen.leader(metricsRole)); base != "" { // also in another process
			forward(w, r, base, "/federate")
			return
		}
		http.Error(w, "nobody leads "+metricsRole, http.StatusServiceUnavailable)
	})
	return mux
}

// forward answers with a page of a member.
func forward(w http.ResponseWriter, r *http.Request, base, path string) {
	target, err := url.Parse(base)
	if err != nil {
		http.Error(w, err.Error(), http.StatusServiceUnavailable)
		return
	}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(p *httputil.ProxyRequest) {
			p.SetURL(target)
			p.Out.URL.Path, p.Out.URL.RawPath = path, ""
		},
		ErrorLog: log.New(io.Discard, "", 0), // the screen is for the demo
		ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) {
			http.Error(w, err.Error(), http.StatusServiceUnavailable)
		},
	}
	proxy.ServeHTTP(w, r)
}

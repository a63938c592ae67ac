package cli

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// OwnHosts answers 421 to a request for a host that is not the server's own: localhost, an address
// of loopback, the host of listen, the address that was connected to, or one of names. A page that
// asks for no password needs it. A foreign site can have its name resolve to the page's address,
// and the browser then lets its scripts read the page and send forms.
func OwnHosts(listen string, names []string, h http.Handler) http.Handler {
	if at, _, err := net.SplitHostPort(listen); err == nil && at != "" {
		names = append(slices.Clone(names), at)
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host := hostOf(r.Host)
		if own(host, r) || slices.ContainsFunc(names, func(n string) bool { return strings.EqualFold(n, host) }) {
			h.ServeHTTP(w, r)
			return
		}
		http.Error(w, fmt.Sprintf("this page is not served as %q: open it at the address that rolectl has printed, "+
			"or give --host with this name", host), http.StatusMisdirectedRequest)
	})
}

// hostOf is a host without port and brackets.
func hostOf(host string) string {
	if only, _, err := net.SplitHostPort(host); err == nil {
		host = only
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(host, "["), "]"), ".")
}

// own reports whether a host is this machine, or the address that the request was sent to.
func own(host string, r *http.Request) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(host)
	if err != nil {
		return false
	}
	ip = ip.Unmap()
	to, known := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	return ip.IsLoopback() || known && to.AddrPort().Addr().Unmap().WithZone("") == ip
}

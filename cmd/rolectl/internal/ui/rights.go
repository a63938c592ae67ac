package ui

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/user"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/bcrypt"
)

// rights say who may steer.
type rights struct {
	on        bool
	file      string
	header    string
	cert, key string
	users     map[string]string // name to hash
}

func (g *rights) flags(cmd *cobra.Command) {
	flags := cmd.Flags()
	flags.BoolVar(&g.on, "steer", false, "let people steer, after a confirmation")
	flags.StringVar(&g.file, "users", "", "file of the people who may steer, a line name:bcrypt for each")
	flags.StringVar(&g.header, "proxy-auth-header", "",
		"header in which a proxy names the person, such as X-Forwarded-User")
	flags.StringVar(&g.cert, "cert", "", "file with the certificate of the page, for TLS")
	flags.StringVar(&g.key, "key", "", "file with its private key")
}

// check reads the users, and refuses what would let strangers steer.
func (g *rights) check(listen string) error {
	switch {
	case (g.cert == "") != (g.key == ""):
		return errors.New("give --cert and --key together")
	case !g.on && (g.file != "" || g.header != ""):
		return errors.New("--users and --proxy-auth-header say who may steer: give --steer too")
	case g.file != "" && g.header != "":
		return errors.New("give --users or --proxy-auth-header, not both")
	case g.on && g.file == "" && g.header == "" && !loopback(listen):
		return fmt.Errorf("--steer at %s would let everybody steer who reaches it: give --users or --proxy-auth-header, "+
			"or listen on 127.0.0.1", listen)
	case g.file != "" && g.cert == "" && !loopback(listen):
		return fmt.Errorf("passwords would be sent to %s in the clear: give --cert and --key, or listen on 127.0.0.1 behind "+
			"a proxy with TLS", listen)
	case g.file == "":
		return nil
	}
	f, err := os.Open(g.file)
	if err != nil {
		return fmt.Errorf("--users: %w", err)
	}
	defer func() { _ = f.Close() }() // it was only read
	g.users = map[string]string{}
	lines := bufio.NewScanner(f)
	for n := 1; lines.Scan(); n++ {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, hash, _ := strings.Cut(line, ":")
		if _, err := bcrypt.Cost([]byte(hash)); err != nil || name == "" {
			return fmt.Errorf("--users: line %d of %s is not name:bcrypt: write it with htpasswd -B", n, g.file)
		}
		g.users[name] = hash
	}
	return lines.Err()
}

// loopback reports whether only this machine reaches an address.
func loopback(listen string) bool {
	host, _, err := net.SplitHostPort(listen)
	if err != nil {
		return false
	}
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// steer is what the page asks, nil if nobody may steer.
func (g *rights) steer() func(*http.Request) (string, bool) {
	switch {
	case !g.on:
		return nil
	case g.header != "":
		return g.named
	case g.file != "":
		return func(r *http.Request) (string, bool) {
			name, ok := r.Context().Value(personKey{}).(string) // around has asked for the password
			return name, ok
		}
	}
	name := "the user of this machine"
	if u, err := user.Current(); err == nil {
		name = u.Username
	}
	return func(*http.Request) (string, bool) { return name, true }
}

// named is whom the proxy names. A second value is refused: the first may be the browser's own, to
// which the proxy has added.
func (g *rights) named(r *http.Request) (string, bool) {
	names := r.Header.Values(g.header)
	if len(names) != 1 || names[0] == "" {
		return "", false
	}
	return names[0], true
}

// personKey is the key of the name whose password was right, in the context of a request.
type personKey struct{}

// turns is how many passwords are compared at once: each costs much CPU by intent.
var turns = make(chan struct{}, 2)

// known asks for name and password of a request.
func (g *rights) known(r *http.Request) (string, bool) {
	name, password, given := r.BasicAuth()
	hash, known := g.users[name]
	if !given {
		return "", false
	}
	if !known { // an unknown name takes as long as a wrong password
		for _, hash = range g.users {
			break
		}
	}
	select {
	case turns <- struct{}{}:
		defer func() { <-turns }()
	case <-r.Context().Done():
		return "", false
	}
	return name, bcrypt.CompareHashAndPassword([]byte(hash), []byte(password)) == nil && known
}

// around has the browser ask for a password where somebody steers.
func (g *rights) around(base string, h http.Handler) http.Handler {
	if g.file == "" {
		return h
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != base+"/act" {
			h.ServeHTTP(w, r)
			return
		}
		name, ok := g.known(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Basic realm="steer", charset="UTF-8"`)
			http.Error(w, "give the name and the password of a person who may steer", http.StatusUnauthorized)
			return
		}
		h.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), personKey{}, name)))
	})
}

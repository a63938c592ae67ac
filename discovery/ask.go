package discovery

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"unicode"
)

// plain is the client of sources that were given none. No connection stays open behind an answer,
// so that nothing runs between two calls. A redirect is not followed: it could carry a token
// elsewhere.
func plain(config *tls.Config) *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy: http.ProxyFromEnvironment, DisableKeepAlives: true, TLSClientConfig: config,
			TLSHandshakeTimeout: within, MaxResponseHeaderBytes: 64 << 10,
		},
		CheckRedirect: stay,
	}
}

func stay(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }

// standard is that without certificates of its own.
var standard = plain(nil)

// ask sends a request. The caller closes the body of the answer. Errors: *ResponseError for every
// status but 200.
func ask(ctx context.Context, client *http.Client, r *http.Request) (*http.Response, error) {
	if client == nil {
		client = standard
	}
	answer, err := client.Do(r.WithContext(ctx))
	if err != nil {
		return nil, steady(err)
	}
	if answer.StatusCode == http.StatusOK {
		return answer, nil
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, 8<<10))
	if err != nil {
		text = nil // the status says enough
	}
	says := string(text)
	var status struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &status) == nil && status.Message != "" { // as etcd and Kubernetes do
		says = status.Message
	}
	return nil, &ResponseError{answer.StatusCode, printable(says[:min(len(says), 300)])}
}

// steady is an error of a connection without the port that this process had by chance, so that the
// same trouble has the same words each time.
func steady(err error) error {
	whole, is := errors.AsType[*url.Error](err)
	if !is {
		return err
	}
	op, is := errors.AsType[*net.OpError](whole.Err)
	if !is {
		return err
	}
	return &url.Error{Op: whole.Op, URL: whole.URL, Err: &net.OpError{Op: op.Op, Net: op.Net, Addr: op.Addr, Err: op.Err}}
}

// printable is a text of a service on one line.
func printable(text string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(text, "")))
}

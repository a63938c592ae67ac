package kube

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"unicode"
)

var (
	// ErrNotInCluster says that this process does not run in a pod with a service account.
	ErrNotInCluster = errors.New("kube: not in a cluster: KUBERNETES_SERVICE_HOST and _PORT are not set; " +
		"set Client to reach an API server from outside")
	// ErrStale says that a later term has written the slice. This process has lost the role, or
	// will soon learn of it.
	ErrStale = errors.New("kube: a later leader has written the EndpointSlice")
	// ErrForeign says that the slice belongs to somebody else, or to another role.
	ErrForeign = errors.New("kube: the EndpointSlice is not that of this role: give the role a Service of its own")
)

// StatusError is an answer of the API server that is not a success.
type StatusError struct {
	Method, Path string
	Status       int
	// Says is the message of the API server.
	Says string
}

func (e *StatusError) Error() string {
	fix := ""
	if e.Status == http.StatusForbidden || e.Status == http.StatusUnauthorized {
		fix = ": give the service account the rights of deploy/kubernetes/base/rbac.yaml"
	}
	return fmt.Sprintf("kube: %s %s: %d %s%s", e.Method, e.Path, e.Status, e.Says, fix)
}

func statusError(method, path string, status int, text []byte) error {
	var says struct {
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &says) != nil || says.Message == "" {
		says.Message = http.StatusText(status)
	}
	line := strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(says.Message, ""))
	return &StatusError{method, path, status, strings.ToValidUTF8(line[:min(len(line), 300)], "")}
}

// answers reports whether err is an answer with a status.
func answers(err error, status int) bool {
	var e *StatusError
	return errors.As(err, &e) && e.Status == status
}

// ConfigError is one fault of a configuration.
type ConfigError struct {
	Field string
	// Fix says what is wrong and how to fix it.
	Fix string
}

func (e *ConfigError) Error() string { return fmt.Sprintf("kube: %s: %s", e.Field, e.Fix) }

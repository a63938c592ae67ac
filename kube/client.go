package kube

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/kubeapi"
)

const (
	within = 5 * time.Second // for one request
	most   = 1 << 20         // bytes of an answer
)

// Client talks to an API server. [InCluster] makes one from the service account of the pod.
type Client struct {
	// Address of the API server, such as https://10.96.0.1:443.
	Address string
	// Namespace of the pod and of its Service.
	Namespace string
	// Token, if set, is called for the bearer token before each request.
	Token func() (string, error)
	// HTTP makes the requests. Default: http.DefaultClient.
	HTTP *http.Client
}

// InCluster is the client of a pod, with its service account. Token and certificate authority are
// read again when they are needed, since Kubernetes replaces them. Errors: [ErrNotInCluster], and
// those of reading the files.
func InCluster() (*Client, error) {
	account, in := kubeapi.InCluster()
	if !in {
		return nil, ErrNotInCluster
	}
	if _, err := account.Authorities(); err != nil {
		return nil, fmt.Errorf("kube: read the authority of the API server: %w", err)
	}
	namespace, err := account.Namespace()
	if err != nil {
		return nil, fmt.Errorf("kube: read the namespace of the pod: %w", err)
	}
	return &Client{
		Address: account.Address, Namespace: namespace, Token: account.Token,
		HTTP: &http.Client{Transport: account.Transport()},
	}, nil
}

// do sends a request with a body, nil for none, and decodes the answer into out. Errors:
// *StatusError for every status that is not a success.
func (c *Client) do(ctx context.Context, method, path, contentType string, in, out any) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	var body io.Reader
	if in != nil {
		text, err := json.Marshal(in)
		if err != nil {
			return err
		}
		body = bytes.NewReader(text)
	}
	r, err := http.NewRequestWithContext(ctx, method, strings.TrimSuffix(c.Address, "/")+path, body)
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "application/json")
	if in != nil {
		r.Header.Set("Content-Type", contentType)
	}
	if c.Token != nil {
		token, err := c.Token()
		if err != nil {
			return fmt.Errorf("read the token: %w", err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
	}
	answer, err := cmp.Or(c.HTTP, http.DefaultClient).Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := io.ReadAll(io.LimitReader(answer.Body, most+1))
	if err == nil && len(text) > most {
		err = errors.New("the answer is larger than 1 MiB")
	}
	if err != nil {
		return err
	}
	if answer.StatusCode/100 != 2 {
		return statusError(method, path, answer.StatusCode, text)
	}
	if err := json.Unmarshal(text, out); err != nil {
		return fmt.Errorf("read the answer of the API server: %w", err)
	}
	return nil
}

// slices is the path of the EndpointSlices, and of one of them.
func (c *Client) slices(name ...string) string {
	return "/apis/discovery.k8s.io/v1/namespaces/" + url.PathEscape(c.Namespace) + "/endpointslices" + below(name)
}

func (c *Client) pod(name string) string {
	return "/api/v1/namespaces/" + url.PathEscape(c.Namespace) + "/pods" + below([]string{name})
}

func below(names []string) (path string) {
	for _, name := range names {
		path += "/" + url.PathEscape(name)
	}
	return path
}

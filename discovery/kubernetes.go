package discovery

import (
	"bufio"
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/rolemanager/rolemanager/internal/kubeapi"
)

// Kubernetes is the list of the endpoints of a Service that are ready and not terminating, from its
// EndpointSlices. It lists them, and a watch says when to list them again. The zone of a server is
// that of its endpoint.
//
// In a pod it needs a service account that may list and watch endpointslices. Token and certificate
// authority are read again when they are needed, since Kubernetes replaces them.
type Kubernetes struct {
	// Namespace of the Service. Default: that of the pod.
	Namespace string
	// Service is the name of the Service.
	Service string
	// Port is the name or the number of the port of the servers. Default: the only one, else the one
	// that is named "nats".
	Port string
	// Domain, if set, is that of the cluster behind the namespace, such as "svc.cluster.local". An
	// endpoint with a host name is then named HOST.SERVICE.NAMESPACE.DOMAIN, so that a certificate of
	// its server can be verified, and not by its address.
	Domain string
	// Scheme of the URLs. Default "nats".
	Scheme string
	// Address of the API server, such as "http://127.0.0.1:8001" for kubectl proxy. Default: that of
	// the cluster in which this process is a pod.
	Address string
	// Token, if set, is called for the bearer token before each request. Default: that of the pod, if
	// Address is not set.
	Token func() (string, error)
	// Wait is how long one watch may last until all is listed again. Default 5 min, minimum 1 s.
	Wait time.Duration
	// Client, if set, makes the requests. It needs no timeout.
	Client *http.Client
}

// Next implements [Servers]. Errors: *[LookupError], *[ConfigError], and that of ctx.
func (k Kubernetes) Next(ctx context.Context, last []Server) ([]Server, error) {
	if k.Service == "" {
		return nil, &ConfigError{"Service", "it is empty: name the Service of the NATS servers"}
	}
	source := "k8s " + cmp.Or(k.Namespace, "(this namespace)") + "/" + k.Service
	if k.Address == "" || k.Namespace == "" {
		account, in := kubeapi.InCluster()
		switch {
		case !in && k.Address == "":
			return nil, &ConfigError{"Address", "this process is not a pod, as KUBERNETES_SERVICE_HOST and _PORT are not " +
				"set: give that of an API server, such as the one of kubectl proxy"}
		case !in:
			return nil, &ConfigError{"Namespace", "it is empty, and this process is not a pod: name that of the Service"}
		}
		if k.Namespace == "" {
			namespace, err := account.Namespace()
			if err != nil {
				return nil, &LookupError{source, fmt.Errorf("read the namespace of the pod: %w", err)}
			}
			k.Namespace, source = namespace, "k8s "+namespace+"/"+k.Service
		}
		if k.Address == "" {
			k = k.by(account)
		}
	}
	at, err := base(k.Address)
	if err != nil {
		return nil, err
	}
	return watched(ctx, source, last, k.Wait, &service{k, at, ""})
}

// by goes to the API server with the service account of the pod.
func (k Kubernetes) by(account kubeapi.Account) Kubernetes {
	k.Address = account.Address
	if k.Token == nil {
		k.Token = account.Token
	}
	if k.Client == nil {
		transport := account.Transport()
		transport.DisableKeepAlives, transport.MaxResponseHeaderBytes = true, 64<<10
		k.Client = &http.Client{Transport: transport, CheckRedirect: stay}
	}
	return k
}

// service is a Service at an API server.
type service struct {
	Kubernetes
	at      *url.URL
	version string // of the last list
}

// look lists the slices.
func (s *service) look(ctx context.Context) ([]Server, error) {
	answer, err := s.get(ctx, url.Values{})
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()
	text, err := bounded(answer.Body)
	if err != nil {
		return nil, err
	}
	list, version, err := s.readSlices(text)
	s.version = version
	return list, err
}

// watch waits for one event. That of an error is one too: the version is too old.
func (s *service) watch(ctx context.Context) error {
	q := url.Values{"watch": {"1"}, "resourceVersion": {s.version}}
	if end, is := ctx.Deadline(); is { // the API server ends it too, and not earlier
		q.Set("timeoutSeconds", strconv.Itoa(int(time.Until(end).Seconds())+10))
	}
	answer, err := s.get(ctx, q)
	if err != nil {
		if says, is := errors.AsType[*ResponseError](err); is && says.Status == http.StatusGone {
			return nil
		}
		return err
	}
	defer func() { _ = answer.Body.Close() }()
	line, err := bufio.NewReaderSize(answer.Body, longest).ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		return nil // a long one: the next list shows what has changed
	}
	if err != nil {
		return err
	}
	return readEvent(line)
}

func (s *service) get(ctx context.Context, q url.Values) (*http.Response, error) {
	q.Set("labelSelector", "kubernetes.io/service-name="+s.Service)
	u := s.at.JoinPath("apis", "discovery.k8s.io", "v1", "namespaces", url.PathEscape(s.Namespace), "endpointslices")
	u.RawQuery = q.Encode()
	r, err := http.NewRequest(http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	r.Header.Set("Accept", "application/json")
	if s.Token != nil {
		token, err := s.Token()
		if err != nil {
			return nil, fmt.Errorf("read the token: %w", err)
		}
		if token = strings.TrimSpace(token); token != "" {
			r.Header.Set("Authorization", "Bearer "+token)
		}
	}
	answer, err := ask(ctx, s.Client, r)
	if says, is := errors.AsType[*ResponseError](err); is && says.Status == http.StatusForbidden {
		err = fmt.Errorf("%w: it needs list and watch of endpointslices in the API group discovery.k8s.io", err)
	}
	return answer, err
}

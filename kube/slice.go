package kube

import (
	"maps"
	"net/netip"
	"reflect"
	"strconv"
	"time"
)

// Annotations and labels of a slice.
const (
	annotationRole   = "rolemanager/role"
	annotationBucket = "rolemanager/bucket-id"
	annotationEpoch  = "rolemanager/epoch"
	annotationTTL    = "rolemanager/ttl-ms"
	labelService     = "kubernetes.io/service-name"
	labelManagedBy   = "endpointslice.kubernetes.io/managed-by"
	managedBy        = "rolemanager"
)

// slice is an EndpointSlice, as far as it is written here. The rest of it stays as it was read.
type slice struct {
	APIVersion  string     `json:"apiVersion"`
	Kind        string     `json:"kind"`
	Metadata    metadata   `json:"metadata"`
	AddressType string     `json:"addressType"`
	Endpoints   []endpoint `json:"endpoints"`
	Ports       []port     `json:"ports"`

	others others
}

type metadata struct {
	Name            string            `json:"name"`
	Namespace       string            `json:"namespace,omitempty"`
	ResourceVersion string            `json:"resourceVersion,omitempty"`
	Labels          map[string]string `json:"labels,omitempty"`
	Annotations     map[string]string `json:"annotations,omitempty"`

	others others
}

type endpoint struct {
	Addresses  []string   `json:"addresses"`
	Conditions conditions `json:"conditions"`
	NodeName   string     `json:"nodeName,omitempty"`
	Zone       string     `json:"zone,omitempty"`
	TargetRef  *reference `json:"targetRef,omitempty"`
}

type conditions struct {
	Ready bool `json:"ready"`
}

type reference struct {
	Kind      string `json:"kind"`
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
}

type port struct {
	Name     string `json:"name"`
	Port     int32  `json:"port"`
	Protocol string `json:"protocol"`
}

// claim is in whose name a slice is written: one term of a role.
type claim struct {
	role   string
	bucket string // its id
	epoch  uint64
	ttl    time.Duration
}

// over is the slice with what was found and is not written here: fields, labels and annotations of
// others. It replaces what was found, and nothing newer.
func (s slice) over(found slice) slice {
	s.others, s.Metadata.others = found.others, found.Metadata.others
	s.Metadata.Labels = joined(found.Metadata.Labels, s.Metadata.Labels)
	s.Metadata.Annotations = joined(found.Metadata.Annotations, s.Metadata.Annotations)
	s.Metadata.ResourceVersion = found.Metadata.ResourceVersion
	return s
}

func joined(first, second map[string]string) map[string]string {
	all := make(map[string]string, len(first)+len(second))
	maps.Copy(all, first)
	maps.Copy(all, second)
	return all
}

// on writes the claim on a slice.
func (c claim) on(s *slice) {
	s.Metadata.Annotations = joined(s.Metadata.Annotations, map[string]string{
		annotationRole: c.role, annotationBucket: c.bucket, annotationEpoch: strconv.FormatUint(c.epoch, 10),
		annotationTTL: strconv.FormatInt(c.ttl.Milliseconds(), 10),
	})
}

// claimOf is the claim on a slice. An epoch that cannot be read is 0, of no bucket: it is replaced
// as that of another bucket.
func claimOf(s slice) claim {
	a := s.Metadata.Annotations
	c := claim{role: a[annotationRole], bucket: a[annotationBucket]}
	ttl, err := strconv.ParseInt(a[annotationTTL], 10, 32)
	if err == nil && ttl > 0 {
		c.ttl = time.Duration(ttl) * time.Millisecond
	}
	if c.epoch, err = strconv.ParseUint(a[annotationEpoch], 10, 64); err != nil {
		c.bucket = ""
	}
	return c
}

// judge says what a term may do to the slice that was found: write it if wait is 0, or once it has
// not changed for so long. Errors: ErrStale, ErrForeign.
//
// Invariant: within one bucket, the epochs of the writes that it admits never decrease.
func (c claim) judge(found slice) (wait time.Duration, err error) {
	if found.Metadata.Labels[labelManagedBy] != managedBy {
		return 0, ErrForeign
	}
	was := claimOf(found)
	switch {
	case was.role != c.role:
		return 0, ErrForeign
	case was.bucket != c.bucket || c.bucket == "":
		return max(was.ttl, c.ttl), nil
	case was.epoch > c.epoch:
		return 0, ErrStale
	}
	return 0, nil
}

// same reports whether a slice has all that want has, so that it need not be written.
func same(found, want slice) bool {
	return found.AddressType == want.AddressType && claimOf(found) == claimOf(want) &&
		reflect.DeepEqual(found.Endpoints, want.Endpoints) && reflect.DeepEqual(found.Ports, want.Ports) &&
		found.Metadata.Labels[labelService] == want.Metadata.Labels[labelService]
}

// family is the type of an address, in the words of an EndpointSlice.
func family(a netip.Addr) string {
	if a.Unmap().Is4() {
		return "IPv4"
	}
	return "IPv6"
}

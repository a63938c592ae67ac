package discovery

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// endpointSlice is an EndpointSlice of Kubernetes, as far as it is read here.
type endpointSlice struct {
	Endpoints []endpoint     `json:"endpoints"`
	Ports     []endpointPort `json:"ports"`
}

type endpoint struct {
	Addresses  []string `json:"addresses"`
	Hostname   string   `json:"hostname"`
	Zone       string   `json:"zone"`
	Conditions struct {
		Ready       *bool `json:"ready"`
		Serving     *bool `json:"serving"`
		Terminating *bool `json:"terminating"`
	} `json:"conditions"`
}

type endpointPort struct {
	Name     string `json:"name"`
	Port     int    `json:"port"`
	Protocol string `json:"protocol"`
}

// usable reports whether a server takes connections, and will for a while. A condition that is not
// known counts as good. Ready says nothing where a Service publishes addresses that are not ready,
// as headless ones of NATS do; serving does.
func (e endpoint) usable() bool {
	c := e.Conditions
	return (c.Ready == nil || *c.Ready) && (c.Serving == nil || *c.Serving) && (c.Terminating == nil || !*c.Terminating) &&
		len(e.Addresses) > 0
}

// readSlices reads a list of EndpointSlices, and its version.
func (k Kubernetes) readSlices(text []byte) (list []Server, version string, err error) {
	var answer struct {
		Kind     string `json:"kind"`
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
		Items []endpointSlice `json:"items"`
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return nil, "", fmt.Errorf("read the answer of the API server: %w", err)
	}
	if answer.Kind != "EndpointSliceList" || answer.Metadata.ResourceVersion == "" {
		return nil, "", errors.New("read the answer of the API server: it is not a list of EndpointSlices: check the address")
	}
	wanted, names := k.wanted(answer.Items)
	found := false
	for _, slice := range answer.Items {
		at := slices.IndexFunc(slice.Ports, func(p endpointPort) bool { return p.is(wanted) })
		if at < 0 {
			continue // its endpoints have other ports
		}
		found = true
		for _, e := range slice.Endpoints {
			if !e.usable() {
				continue
			}
			host := e.Addresses[0] // the others mean the same
			if k.Domain != "" && e.Hostname != "" {
				host = strings.Join([]string{e.Hostname, k.Service, k.Namespace, strings.Trim(k.Domain, ".")}, ".")
			}
			list = append(list, Server{address(k.Scheme, host, slice.Ports[at].Port), e.Zone})
		}
	}
	if !found && len(names) > 0 {
		others := strings.Join(names, ", ")
		return nil, "", fmt.Errorf("the Service has no port %q, and has %s: name one of these", wanted,
			printable(others[:min(len(others), 200)]))
	}
	return list, answer.Metadata.ResourceVersion, nil
}

// wanted is the name or the number of the port of the servers, and the names of all ports of the
// Service. A slice has those of its own endpoints, which may be some of them.
func (k Kubernetes) wanted(all []endpointSlice) (name string, names []string) {
	for _, slice := range all {
		for _, p := range slice.Ports {
			if p.Port > 0 {
				names = append(names, strconv.Quote(cmp.Or(p.Name, strconv.Itoa(p.Port))))
				name = p.Name
			}
		}
	}
	slices.Sort(names)
	if names = slices.Compact(names); len(names) != 1 || k.Port != "" {
		name = cmp.Or(k.Port, "nats")
	}
	return name, names
}

// is reports whether the port has this name or number.
func (p endpointPort) is(wanted string) bool {
	return p.Port > 0 && cmp.Or(p.Protocol, "TCP") == "TCP" && (p.Name == wanted || strconv.Itoa(p.Port) == wanted)
}

// readEvent reads one event of a watch, as far as to see that it is one.
func readEvent(line []byte) error {
	var event struct {
		Type string `json:"type"`
	}
	if err := json.Unmarshal(line, &event); err != nil {
		return fmt.Errorf("read the answer of the API server: %w", err)
	}
	if event.Type == "" {
		return errors.New("read the answer of the API server: it is not an event: check the address")
	}
	return nil
}

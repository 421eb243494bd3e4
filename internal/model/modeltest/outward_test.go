package modeltest_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model/modeltest"
)

func TestOutwardNoticesEveryPlaceOfItsOrders(t *testing.T) {
	o := modeltest.WatchOutward(t)
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	found := regexp.MustCompile(`"(http://[^"]+)"`).FindAllStringSubmatch(o.Orders(), -1)
	for n, m := range found {
		if resp, err := client.Get(m[1]); err == nil {
			_ = resp.Body.Close()
		}
		asked := o.Asked()
		if len(asked) <= n || !strings.Contains(asked[n], modeltest.Loot) && !strings.Contains(asked[n], "look-up") {
			t.Fatalf("of %s is noted: %q", m[1], asked)
		}
	}
	assert.That(t, len(found) == 3, "places %v", found)
}

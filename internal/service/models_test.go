package service_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"sibyl/internal/behaviour/assert"
	"sibyl/internal/model"
	"sibyl/internal/service"
)

func TestModelsAreListedWhileTheEndpointOfTheSettingsHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		hangs := func(ctx context.Context) ([]string, error) { <-ctx.Done(); return nil, ctx.Err() }
		source := &service.ModelSource{Named: "silent", Prices: &service.Prices{}, Redact: func(text string) string {
			return text
		},
			Offers: model.NewOffers(model.Catalog{{Name: "silent", List: hangs}}, nil)}
		ctx, cancel := context.WithTimeout(t.Context(), time.Hour)
		defer cancel()
		began := time.Now()
		all, err := source.List(ctx)
		assert.That(t, err != nil && len(all.Providers) == 1 && all.Providers[0].Error != "", "%+v, %v", all, err)
		took := time.Since(began)
		assert.That(t, took <= 10*time.Second, "it took %v", took)
	})
}

/** Language models that write rows: requests, budget, cache, HTTP. */
@NullMarked
package io.troupe.gym.model;

import org.jspecify.annotations.NullMarked;

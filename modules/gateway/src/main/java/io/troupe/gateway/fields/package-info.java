/** The fields of requests: which there are on each route, and what becomes of them. */
@NullMarked
package io.troupe.gateway.fields;

import org.jspecify.annotations.NullMarked;

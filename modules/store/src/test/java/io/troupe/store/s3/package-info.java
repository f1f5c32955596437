@NullMarked
package io.troupe.store.s3;

import org.jspecify.annotations.NullMarked;

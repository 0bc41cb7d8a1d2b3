exports.tax = amount => amount * 0.2

// The demo merchant's logo: the leaf of the demo shop in examples/shop, as a PNG of 96 by 96 pixels.

export const demoLogo = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAGAAAABgCAMAAADVRocKAAAAJFBMVEULa1QjeWQ6h3VPlIRvp5qKuK2cw7rY5+T8/f3J3tlDjXu0' +
    '0crvuf93AAABwUlEQVRo3u2YQZLEIAhFFVQi3v++k4pjopFsBmbH23V11Rc/oJIQHMdxHMdxHAMiIKaU0z9IQyp0PFiL1+MF26lj' +
    'PgSsTIqZDhG0kS+7MpHdAqs3VHJCOGlGC/CkXXNiGFwJB8Pwa4IFMlngrsuKAMIC2uyO2mmbPIBBow19QgZ5AdLpj/AlecDrL4v4' +
    'k6gPV/azXp9QlAdu2pOid2+DD1hbpanH/6XfU3BoE7z6w1sK6t8X6AlYejcvv5oux92gPFtCq2Gku27eCWaktWJR12Z9A7zGv1h2' +
    'nVFFt4Gy6dOrhli3Adz0cU0x6c7o9vJ/1kfdhQ/rBm79JydF12V52cAeP/RbNOuaDD/9UWcA5oIR/OmnhOIgTZNDkn6vMcUxVO+W' +
    'Ev1h9av36WJJH0j7Jo0jBWL8PcGqu/hOgeQ/9ncSRe1VeR6bUvzp0OuH/qYV9cczUvde7Je51L/NIv7fIhL8H+FXpX6cposnfr5H' +
    'kBKUwDQODH1shiMTvPQxtWc809pzDZOPPmNu8+xHJiPls8B76jOaWJM8rlabefV+876CLxDM2HZwzn62HySmobUkjsGc2No5aSMH' +
    'x3Ecx3Ecx4Ife+sgnOfT58AAAAAASUVORK5CYII=',
  'base64',
)
